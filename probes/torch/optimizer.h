// The probe's queries on torch::optim::Optimizer.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>

namespace loopscope {

// How many numbers a torch::optim::Optimizer trains, in all its groups. Asked after each of its steps.
std::uint64_t ParametersOf(const void* optimizer) noexcept;

// Device of the last queried optimizer's parameters; nullopt before.
std::optional<c10::DeviceType> TrainedDevice() noexcept;

}  // namespace loopscope
