#include "workloads/common/device_graph.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "workloads/common/device_module.h"

namespace loopscope::train {

MakeDeviceGraph OpenDeviceGraphs(c10::Device device) {
  void* const entry = OpenDeviceModule("cuda_graphs=on", "libtrain_cuda_graphs.so", kMakeDeviceGraph);
  at::accelerator::setCurrentStream(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
  return reinterpret_cast<MakeDeviceGraph>(entry);
}

}  // namespace loopscope::train
