// Whether what happens now and then happens at a regular distance.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace loopscope {

// The distance, 2 or more, that two thirds of these distances keep to, or to a multiple of
// it, within 5 %. Absent if events at random places would do so with a probability above
// 0.05.
std::optional<std::uint32_t> RegularDistance(std::vector<std::uint32_t> distances);

}  // namespace loopscope
