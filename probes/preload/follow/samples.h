// Samples which line of a C++ program runs between its operators, where the kernel allows a process to sample itself
// (perf_event_open): no signals, no threads. Written as wire::RangeCategory::kLine, a sample's period each.
#pragma once

#include <cstdint>

namespace loopscope::samples {

// The calling thread is sampled from now on. False: not possible here.
bool Start() noexcept;
// Writes what was sampled since. Returns the number of samples.
std::uint64_t Stop() noexcept;

}  // namespace loopscope::samples
