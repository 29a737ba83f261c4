// Whether a text may be a trace of PyTorch's profiler, by its first bytes.
#pragma once

#include <string_view>

namespace loopscope {

// False where the text that is there rules it out: no JSON, an object that ends without "traceEvents", an array of
// anything but events. True where `head`, plain text, ends before that can be told.
bool MayBeKineto(std::string_view head);

}  // namespace loopscope
