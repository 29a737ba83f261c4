// In the place of the CUDA driver, with two GPUs: `stand_in_driver_log` says what was called, and the program sets
// which GPUs have a context.
#include <cstdio>
#include <cstring>

namespace {

char log[256];
int contexts[2];
void* current = nullptr;

void Note(const char* what, int device) {
  std::snprintf(log + std::strlen(log), sizeof log - std::strlen(log), "%s%d ", what, device);
}

int DeviceOf(void* context) {
  return static_cast<int>(static_cast<int*>(context) - contexts);
}

}  // namespace

extern "C" {

bool stand_in_driver_initialised = false;
bool stand_in_driver_active[2] = {};
const char* stand_in_driver_log() {
  return log;
}

int cuDeviceGetCount(int* count) {
  *count = 2;
  return stand_in_driver_initialised ? 0 : 3;  // CUDA_ERROR_NOT_INITIALIZED
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = stand_in_driver_active[device] ? 1 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &contexts[device];
  Note("retain", device);
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  Note("release", device);
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  current = context;
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = nullptr;
  return 0;
}
int cuCtxSynchronize() {
  Note("wait", DeviceOf(current));
  return 0;
}

}  // extern "C"
