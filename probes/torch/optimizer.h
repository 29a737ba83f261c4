// What the probe asks of torch::optim::Optimizer.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>

namespace loopscope {

// How many numbers a torch::optim::Optimizer trains, in all its groups. Asked after each of its steps.
std::uint64_t ParametersOf(const void* optimizer) noexcept;

// Where the parameters of the optimizer that was last asked about are; nullopt before.
std::optional<c10::DeviceType> TrainedDevice() noexcept;

}  // namespace loopscope
