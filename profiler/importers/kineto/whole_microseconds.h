// Times in whole microseconds (torch before 2.3) leave the nesting ambiguous: many events begin and end at once.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Moves the events of one thread, which are in order, apart by nanoseconds, so that times alone define the nesting: at
// equal times, events that began later are inside the earlier ones. Does nothing where a time
// has fractions of a microsecond. `base_ns` was added to all times.
void SeparateWholeMicroseconds(std::int64_t base_ns, std::vector<Event>& events);

}  // namespace loopscope
