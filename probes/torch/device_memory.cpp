#include "probes/torch/device_memory.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "probes/torch/api.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

constexpr unsigned kMostTries = 64;  // steps: a program that trains on a GPU has loaded it by then

const DeviceMemoryHooks* hooks = nullptr;

bool CudaSideIsLoaded() noexcept {
  void* library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

// It lies beside this library, and stays loaded.
const DeviceMemoryHooks* Load() noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&NoteDeviceMemory), &here) == 0) return nullptr;
  const char* slash = std::strrchr(here.dli_fname, '/');
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%.*slibloopscope_torch_cuda.so",
                slash != nullptr ? static_cast<int>(slash - here.dli_fname + 1) : 0, here.dli_fname);
  if (access(path, R_OK) != 0) return nullptr;  // built without CUDA's headers
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    char text[1024];
    std::snprintf(text, sizeof text, "device memory is not recorded: %s", dlerror());
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text, 0);
    return nullptr;
  }
  auto* attach =
      reinterpret_cast<decltype(&loopscope_torch_cuda_attach)>(dlsym(library, "loopscope_torch_cuda_attach"));
  return attach != nullptr ? attach(api) : nullptr;
}

}  // namespace

bool NoteDeviceMemory() noexcept {
  static unsigned tries = 0;
  if (hooks == nullptr && tries < kMostTries) {
    ++tries;
    if (CudaSideIsLoaded()) {
      tries = kMostTries;
      hooks = Load();
    }
  }
  if (hooks != nullptr && api->tracing) hooks->step_ended();
  return tries < kMostTries || (hooks != nullptr && api->tracing);
}

void WriteDeviceMemoryTotals() noexcept {
  if (hooks != nullptr) hooks->finish();
}

}  // namespace loopscope
