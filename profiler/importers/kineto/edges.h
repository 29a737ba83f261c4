// Joins the begins and ends of a trace to whole events, as if they had been written so.
#pragma once

#include <memory>
#include <vector>

#include "profiler/importers/kineto/shard.h"

namespace loopscope {

// By process and thread: an end belongs to the last begin before it that is still open, in order of time. The events
// join those of the shard that read their begin; what is left over is counted in KinetoShard::unpaired.
void PairKinetoEdges(std::vector<std::unique_ptr<KinetoShard>>& shards);

}  // namespace loopscope
