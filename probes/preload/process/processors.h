// What the training thread, this process and the machine got of the processors over the measured steps: whether the
// program stands in its own way. Read from /proc at the window's two ends; some 0.2 ms each.
#pragma once

namespace loopscope {

// On the training thread.
void ProcessorsWindowOpens() noexcept;

// Writes the facts "processors.window_ns", "processors.training_delay_ns" (the training thread was ready and had none),
// "processors.own_ns" (used by this process and its children) and "processors.all_ns" (by every program, on the
// processors that this one may use), and "processors.ranks_here" where a launcher of ranks tells it. Does nothing when
// the window never opened or /proc tells less.
void ProcessorsWindowCloses() noexcept;

}  // namespace loopscope
