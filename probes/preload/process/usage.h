// What this process uses of the machine, and since when: memory, processors; read from /proc.
#pragma once

#include <cstdint>

namespace loopscope {

// The process's resident memory, now and at its peak, and its limit.
std::uint64_t ResidentBytes() noexcept;  // 0 where it cannot be read
std::uint64_t PeakBytes() noexcept;      // since the start, or since ResetPeak() returned true; 0 where unknown
bool ResetPeak() noexcept;

// The process's limit: the machine's memory, or less if one of its control groups (v1 or v2) allows less; 0 if
// unreadable.
std::uint64_t MemoryLimitBytes() noexcept;

// Processor time of the training thread, this process and the machine over the measured steps: shows whether the
// program competes with itself. Read from /proc at the window's two ends; some 0.2 ms each.

// On the training thread.
void ProcessorsWindowOpens() noexcept;

// Writes the facts "processors.window_ns", "processors.training_ran_ns" (it had a processor),
// "processors.training_delay_ns" (it was ready to run but had no processor),
// "processors.own_ns" (used by this process and its children) and "processors.all_ns" (by every program, on the
// processors that this one may use), "processors.physical" (cores that it may use, siblings counted once), and
// "processors.ranks_here" where the ranks' launcher sets it. Does nothing when the window never opened or /proc lacks
// these numbers.
void ProcessorsWindowCloses() noexcept;

// When this process began.

// CLOCK_MONOTONIC, to a hundredth of a second; 0 if /proc is unreadable.
std::uint64_t ProcessStartNs() noexcept;

}  // namespace loopscope
