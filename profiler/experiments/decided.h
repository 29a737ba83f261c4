// When sequentially checked pairs are enough.
#pragma once

#include <span>

namespace loopscope {

// Whether these differences of logarithms show one side faster, or both equivalent within `margin` (2 %: 0.02); never
// with fewer than kClearPairs of them.
bool IsDecided(std::span<const double> d, double margin);

}  // namespace loopscope
