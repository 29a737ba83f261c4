#include "probes/torch/optimizer.h"

#include <torch/optim/optimizer.h>

#include <atomic>

namespace loopscope {
namespace {

constexpr int kUnknown = -1;
std::atomic<int> trained{kUnknown};  // a c10::DeviceType

}  // namespace

std::uint64_t ParametersOf(const void* optimizer) noexcept {
  std::uint64_t count = 0;
  for (const auto& group : static_cast<const torch::optim::Optimizer*>(optimizer)->param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.defined()) continue;
      if (count == 0) trained.store(static_cast<int>(parameter.device().type()), std::memory_order_relaxed);
      count += static_cast<std::uint64_t>(parameter.numel());
    }
  }
  return count;
}

std::optional<c10::DeviceType> TrainedDevice() noexcept {
  const int device = trained.load(std::memory_order_relaxed);
  return device == kUnknown ? std::nullopt : std::optional(static_cast<c10::DeviceType>(device));
}

}  // namespace loopscope
