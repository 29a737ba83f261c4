// All formats, in the order of formats.def.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/format.h"

namespace loopscope {

std::span<const Format* const> AllFormats();

// Null when there is none of that id.
const Format* FindFormat(std::string_view id);

}  // namespace loopscope
