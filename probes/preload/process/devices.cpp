#include "probes/preload/process/devices.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "probes/export.h"
#include "probes/find_function.h"

namespace loopscope {
namespace {

std::atomic<const DeviceHooks*> device_hooks{nullptr};
std::atomic<bool> cupti_is_taken{false};

// Functions of the CUDA driver (cuda.h); each returns 0 for success.
struct Driver {
  int (*device_count)(int*) = nullptr;
  int (*primary_state)(int device, unsigned* flags, int* active) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*release)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*synchronise)() = nullptr;
};

// False if the program has no driver loaded at the moment.
bool FindDriver(Driver& driver) noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool complete = Find(library, "cuDeviceGetCount", driver.device_count) &&
                        Find(library, "cuDevicePrimaryCtxGetState", driver.primary_state) &&
                        Find(library, "cuDevicePrimaryCtxRetain", driver.retain) &&
                        Find(library, "cuDevicePrimaryCtxRelease_v2", driver.release) &&
                        Find(library, "cuCtxPushCurrent_v2", driver.push) &&
                        Find(library, "cuCtxPopCurrent_v2", driver.pop) &&
                        Find(library, "cuCtxSynchronize", driver.synchronise);
  dlclose(library);  // the program's own reference keeps it
  return complete;
}

// The context of torch and of the CUDA runtime is the primary one.
void SynchroniseOne(const Driver& driver, int device) noexcept {
  unsigned flags = 0;
  int active = 0;
  void* context = nullptr;
  if (driver.primary_state(device, &flags, &active) != 0 || active == 0) return;
  if (driver.retain(&context, device) != 0) return;
  if (driver.push(context) == 0) {
    driver.synchronise();
    driver.pop(&context);
  }
  driver.release(device);
}

}  // namespace

void SetDeviceHooks(const DeviceHooks* hooks) noexcept {
  device_hooks.store(hooks, std::memory_order_release);
}

void FinishDevices() noexcept {
  if (const DeviceHooks* hooks = device_hooks.load(std::memory_order_acquire)) hooks->finish();
}

bool DevicesFollowed() noexcept {
  return device_hooks.load(std::memory_order_acquire) != nullptr;
}

void AttachDeviceProbe() noexcept {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const probe = path != nullptr && *path != '\0' ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (probe == nullptr) return;
  decltype(&loopscope_cupti_attach) attach = nullptr;
  if (Find(probe, "loopscope_cupti_attach", attach)) attach();  // another tool's library has none
  dlclose(probe);                                               // the driver's own reference keeps it
}

void LeaveCuptiTo(const char* client) noexcept {
  cupti_is_taken.store(true, std::memory_order_release);
  if (const DeviceHooks* hooks = device_hooks.load(std::memory_order_acquire)) hooks->leave_cupti_to(client);
}

void SynchroniseDevices() noexcept {
  Driver driver;
  int count = 0;
  // Before cuInit() the count is an error: nothing runs then.
  if (!FindDriver(driver) || driver.device_count(&count) != 0) return;
  for (int device = 0; device < count; ++device) SynchroniseOne(driver, device);
}

}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT bool loopscope_cupti_is_taken() {
  return loopscope::cupti_is_taken.load(std::memory_order_acquire);
}
