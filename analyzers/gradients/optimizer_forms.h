// Whether an optimizer has an implementation that takes many tensors at once, and uses it: by its class and its
// settings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Optimizers of torch.optim that have no other implementation: LBFGS works on all parameters as one vector, the others
// on one tensor by their nature.
bool HasNoOtherForm(std::string_view name);

// The most tensors that an optimizer of this class was recorded to have; absent where none was recorded.
std::optional<std::uint64_t> TensorsOf(const Trace& trace, std::string_view name);

// Whether the program's own settings declare it for every optimizer of that class. A CPU has no foreach operators of
// its own.
bool SaysMultiTensor(const Timeline& timeline, std::string_view name);

// What to do about optimizers of these classes (and how many there are of each), where the fused form is not what any
// of them has; else empty.
std::string AdviceFor(const Timeline& timeline, const std::map<std::string_view, int>& names);

}  // namespace loopscope
