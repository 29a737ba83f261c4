// Whether what happens now and then happens at a regular distance.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace loopscope {

// The distance, 2 or more, that two thirds of these distances keep to, or to a multiple of it, within 5 %. Absent where
// as many would by chance, with a probability above 0.05, if what they lie between came at each place with the same
// chance.
std::optional<std::uint32_t> RegularDistance(std::vector<std::uint32_t> distances);

}  // namespace loopscope
