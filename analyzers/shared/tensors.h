// The tensors that an operator was called with.
#pragma once

#include <string_view>
#include <vector>

#include "profiler/core/trace/inputs.h"

namespace loopscope {

// Those in lists included; a list that was cut short has none.
std::vector<TensorText> TensorsOf(std::string_view inputs);

}  // namespace loopscope
