#include "workloads/common/device_module.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const char* item, const std::string& why) {
  throw UsageError(fmt::format("{}: {}: leave it out, or build the module beside the program", item, why));
}

}  // namespace

void* OpenDeviceModule(const char* item, const char* library, const char* entry) {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error).parent_path() / library;
  if (!fs::exists(path, error)) Fail(item, fmt::format("there is no {}", path.string()));
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) Fail(item, fmt::format("cannot load {}", dlerror()));
  void* const found = dlsym(module, entry);
  if (found == nullptr) Fail(item, fmt::format("the module has no {}", entry));
  return found;
}

MakeDeviceGraph OpenDeviceGraphs(c10::Device device) {
  void* const entry = OpenDeviceModule("cuda_graphs=on", "libtrain_cuda_graphs.so", kMakeDeviceGraph);
  at::accelerator::setCurrentStream(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
  return reinterpret_cast<MakeDeviceGraph>(entry);
}

}  // namespace loopscope::train
