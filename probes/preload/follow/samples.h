// Samples the line of a C++ program that runs between its operators, if the kernel allows a process to sample itself
// (perf_event_open): no signals, no threads. Written as wire::RangeCategory::kLine, a sample's period each.
#pragma once

#include <cstdint>

namespace loopscope::samples {

// Sets sampling up, which takes milliseconds in the kernel. Without it the first Start does.
void Prepare() noexcept;
// Samples the calling thread from now on, about fifty times per step_ns (0: unknown). False: not possible here.
bool Start(std::uint64_t step_ns) noexcept;
// Writes what was sampled since. Returns the number of samples.
std::uint64_t Stop() noexcept;

}  // namespace loopscope::samples
