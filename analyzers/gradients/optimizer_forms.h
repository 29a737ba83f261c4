// Whether an optimizer has, and uses, an implementation that takes many tensors at once, from its class and
// settings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Optimizers of torch.optim without another implementation: LBFGS works on all parameters as one vector, the others
// inherently on one tensor.
bool HasNoOtherForm(std::string_view name);

// The most tensors that an optimizer of this class was recorded to have; absent where none was recorded.
std::optional<std::uint64_t> TensorsOf(const Trace& trace, std::string_view name);

// Whether the program's own settings ask for it for every optimizer of that class. A CPU has no native foreach
// operators.
bool SaysMultiTensor(const Timeline& timeline, std::string_view name);

// What to do about optimizers of these classes (and how many there are of each), where the fused form is not what any
// of them has; else empty.
std::string AdviceFor(const Timeline& timeline, const std::map<std::string_view, int>& names);

}  // namespace loopscope
