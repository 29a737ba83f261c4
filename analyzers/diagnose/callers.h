// Lines of a package beside the program, and the program's own lines that lead to them: users do not edit packages, but
// change parameters in their own calls.
#pragma once

#include <optional>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// The innermost line outside of `where`'s package that leads to it, inside the working directory; absent where `where`
// is in no package, or called from nowhere else.
std::optional<Where> CalledAt(const Trace& trace, const Where& where);

}  // namespace loopscope
