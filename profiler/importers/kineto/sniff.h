// Whether a text may be a trace of PyTorch's profiler, by its first bytes.
#pragma once

#include <string_view>

namespace loopscope {

// False when the text so far rules it out: not JSON, an object that ends without "traceEvents", an array of anything
// but events. True when `head`, plain text, ends before that can be decided.
bool MayBeKineto(std::string_view head);

}  // namespace loopscope
