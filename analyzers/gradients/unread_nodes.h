// What of a backward pass makes gradients that nobody reads.
#pragma once

#include "analyzers/shared/tensors.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Of one backward pass on the host, in ms: the nodes after which no gradient of a tensor of a shape in `read` is made,
// and of the nodes that make the gradients of other tensors beside one that the pass goes on with, half.
double UnreadMs(const Timeline& timeline, EventRef pass, const Shapes& read);

}  // namespace loopscope
