// Whether what happens now and then happens at a regular distance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace loopscope {

// The distance, 2 or more, that two thirds of the distances between `numbers` (rising) keep to, within 5 %. Absent
// where as many would by chance, with a probability above 0.05, if each number were as likely as another.
std::optional<std::uint32_t> RegularDistance(std::span<const std::uint32_t> numbers);

}  // namespace loopscope
