#include "probes/torch/optimizer.h"

#include <torch/optim/optimizer.h>

namespace loopscope {

std::uint64_t ParametersOf(const void* optimizer) noexcept {
  std::uint64_t count = 0;
  for (const auto& group : static_cast<const torch::optim::Optimizer*>(optimizer)->param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (parameter.defined()) count += static_cast<std::uint64_t>(parameter.numel());
    }
  }
  return count;
}

}  // namespace loopscope
