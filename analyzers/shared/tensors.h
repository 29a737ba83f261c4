// The tensors that an operator was called with.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "profiler/core/trace/inputs.h"

namespace loopscope {

using Shapes = std::set<std::vector<std::int64_t>>;

// Including those in lists; a truncated list has none.
std::vector<TensorText> TensorsOf(std::string_view inputs);

}  // namespace loopscope
