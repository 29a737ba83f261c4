// Leaves out events whose times are implausible beside all others: at 0, days away, longer than the trace.
#pragma once

#include <memory>
#include <vector>

#include "profiler/importers/kineto/shard.h"

namespace loopscope {

// Counts them in KinetoShard::timeless and far_off. Costs nothing where no time is out of place.
void DropUntrueTimes(std::vector<std::unique_ptr<KinetoShard>>& shards);

}  // namespace loopscope
