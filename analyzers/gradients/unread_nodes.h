// The part of a backward pass that makes gradients which are never read.
#pragma once

#include "analyzers/shared/events.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// In ms, for one backward pass on the host: nodes after which no gradient of a tensor with a shape in `read` is made,
// plus half of each node that makes an unread gradient beside one that the pass continues with.
double UnreadMs(const Timeline& timeline, EventRef pass, const Shapes& read);

}  // namespace loopscope
