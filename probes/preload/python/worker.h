// Follows the calls of a loader's worker while it fetches a few batches: which line of the data set, of a transform or
// of the collating takes the time.
#pragma once

namespace loopscope::follow {

// A forked child begins. Does nothing but in the worker of one of torch's loaders. Under the interpreter's lock.
void ChildBegins() noexcept;

}  // namespace loopscope::follow
