// Repairs of events before and while they are merged: begins and ends are joined, times that cannot be are left out,
// times in whole microseconds are moved apart.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/kineto/shard.h"

namespace loopscope {

// Joins the begins and ends of a trace to whole events, as if they had been written so.

// By process and thread: an end belongs to the last begin before it that is still open, in order of time. The events
// join those of the shard that read their begin; what is left over is counted in KinetoShard::unpaired.
void PairKinetoEdges(std::vector<std::unique_ptr<KinetoShard>>& shards);

// Leaves out events whose times are implausible beside all others: at 0, days away, longer than the trace.

// Counts them in KinetoShard::timeless and far_off. Costs nothing where no time is out of place.
void DropUntrueTimes(std::vector<std::unique_ptr<KinetoShard>>& shards);

// Times in whole microseconds (torch before 2.3) leave the nesting ambiguous: many events begin and end at once.

// Moves the events of one thread, which are in order, apart by nanoseconds, so that times alone define the nesting: at
// equal times, events that began later are inside the earlier ones. Does nothing where a time
// has fractions of a microsecond. `base_ns` was added to all times.
void SeparateWholeMicroseconds(std::int64_t base_ns, std::vector<Event>& events);

}  // namespace loopscope
