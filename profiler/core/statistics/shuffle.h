// Fisher-Yates shuffle with a generator that is the same everywhere, so that a seed fixes the order (std::shuffle
// leaves it to the library).
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace loopscope {

template <class T>
void Shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

}  // namespace loopscope
