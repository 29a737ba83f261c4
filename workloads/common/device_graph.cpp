#include "workloads/common/device_graph.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "workloads/common/usage_error.h"

namespace loopscope::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& why) {
  throw UsageError(fmt::format("cuda_graphs=on: {}: set cuda_graphs=off, or build the module beside the program", why));
}

// Beside the program; it binds to the torch that is loaded, and is never unloaded.
void* LoadModule() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error).parent_path() / "libtrain_cuda_graphs.so";
  if (!fs::exists(path, error)) Fail(fmt::format("there is no {}", path.string()));
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) Fail(fmt::format("cannot load {}", ::dlerror()));
  return module;
}

}  // namespace

MakeDeviceGraph OpenDeviceGraphs(c10::Device device) {
  void* const entry = ::dlsym(LoadModule(), kMakeDeviceGraph);
  if (!entry) Fail(fmt::format("the module has no {}", kMakeDeviceGraph));
  at::accelerator::setCurrentStream(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
  return reinterpret_cast<MakeDeviceGraph>(entry);
}

}  // namespace loopscope::train
