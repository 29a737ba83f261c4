// Follows the calls of a loader's worker for a few batches: shows the lines of the data set, the transforms and the
// collate function that take the time.
#pragma once

namespace loopscope::follow {

// A forked child begins. Does nothing unless it is a worker of torch's loaders. Under the interpreter's lock.
void ChildBegins() noexcept;

}  // namespace loopscope::follow
