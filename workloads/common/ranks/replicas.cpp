#include "workloads/common/ranks/replicas.h"

#include <ATen/DeviceAccelerator.h>
#include <fmt/format.h>

#include "workloads/common/device_module.h"
#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {

Replicas::Replicas() {
  const int count = at::accelerator::deviceCount();
  if (count < 2) {
    throw UsageError(
        fmt::format("data_parallel=on needs two GPUs or more, and torch sees {}: set data_parallel=off", count));
  }
  for (int index = 0; index < count; ++index) devices_.emplace_back(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  void* const entry = OpenDeviceModule("data_parallel=on", "libtrain_data_parallel.so", kForwardOnAll);
  forward_ = reinterpret_cast<ForwardOnAll>(entry);
}

torch::Tensor Replicas::operator()(const std::shared_ptr<ReplicatedModule>& module, const torch::Tensor& input) const {
  torch::Tensor output;
  forward_(module, input, devices_, output);
  return output;
}

}  // namespace loopscope::train
