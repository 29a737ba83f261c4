// What the probe asks of torch::optim::Optimizer.
#pragma once

#include <cstdint>

namespace loopscope {

// How many numbers a torch::optim::Optimizer trains, in all its groups.
std::uint64_t ParametersOf(const void* optimizer) noexcept;

}  // namespace loopscope
