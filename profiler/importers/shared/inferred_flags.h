// Infers flags of ops from their order, for formats without the probe's own flags.
#pragma once

#include <functional>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// Whether an op is a node of the backward pass.
using IsBackwardOp = std::function<bool(const Event&)>;

// Sets `sub` of backward ops to 1, wire::kOpGradMode of forward ops that carry a sequence number, and wire::kOpGraph of
// those that made a node of the graph. `events` are of one thread, by start, callers first.
//
// A forward op carries the number that the next node will get (at::RecordFunction): it made a node when the number is
// higher in the next such op after it.
void MarkGraphOps(const IsBackwardOp& is_backward, std::vector<Event>& events);

// Sets wire::kOpOutermost of ops that no other op of the thread encloses; `events` as above.
void MarkOutermostOps(std::vector<Event>& events);

}  // namespace loopscope
