// Reads a pickle of plain data (dicts, lists, tuples, texts, numbers), as PyTorch's flight recorder writes it. Nothing
// in it is executed: a pickle that asks for a class or a function is refused.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

// Whether the bytes begin as a pickle of protocol 2 or later does.
bool MayBePickle(std::string_view head);

// Its value; tuples become arrays, and only texts are keys. Errors (without a place): damaged, cut off, not plain data,
// or of more than a few million values once shared ones are written out.
Result<nlohmann::json> PlainPickle(std::string_view bytes);

}  // namespace loopscope
