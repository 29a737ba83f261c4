// The pictures of the data set: ten classes, five shapes filled with one of two textures, placed at random.
#pragma once

#include <cstdint>

#include "workloads/train_image/jpeg.h"

namespace loopscope::train::image {

inline constexpr int kClasses = 10;

// A square picture of class `label` (0 to 9) with `size` pixels an edge. Position, angle, colours, period and noise
// come from `key` alone.
Image Draw(int label, int size, std::uint64_t key);

}  // namespace loopscope::train::image
