// Processor time of the training thread, this process and the machine over the measured steps: shows whether the
// program competes with itself. Read from /proc at the window's two ends; some 0.2 ms each.
#pragma once

namespace loopscope {

// On the training thread.
void ProcessorsWindowOpens() noexcept;

// Writes the facts "processors.window_ns", "processors.training_ran_ns" (it had a processor),
// "processors.training_delay_ns" (it was ready to run but had no processor),
// "processors.own_ns" (used by this process and its children) and "processors.all_ns" (by every program, on the
// processors that this one may use), "processors.physical" (cores that it may use, siblings counted once), and
// "processors.ranks_here" where the ranks' launcher sets it. Does nothing when the window never opened or /proc lacks
// these numbers.
void ProcessorsWindowCloses() noexcept;

}  // namespace loopscope
