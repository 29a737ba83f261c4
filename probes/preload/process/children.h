// The processes that this one has started.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>

namespace loopscope {

using ChildList = std::array<pid_t, 256>;

// Direct children that have not been waited for; how many.
std::size_t ListChildren(ChildList& into) noexcept;

}  // namespace loopscope
