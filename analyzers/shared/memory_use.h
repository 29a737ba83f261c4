// How much of the memory available to a training run it uses.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// From this share of the limit on, memory is assumed to limit the run: allocators keep more than the live tensors, and
// other processes need some too. Up to kFreePct, most of it is free.
inline constexpr double kTightPct = 85;
inline constexpr double kFreePct = 50;

struct MemoryUse {
  std::string name;  // "this machine's memory", "cuda:0"
  std::uint64_t peak_bytes = 0, limit_bytes = 0;
  std::string why_unknown = {};  // beginning of a sentence; "" when both are known

  bool known() const { return why_unknown.empty(); }
  double pct() const { return 100 * static_cast<double>(peak_bytes) / static_cast<double>(limit_bytes); }
  bool tight() const { return known() && pct() >= kTightPct; }
  bool free() const { return known() && pct() <= kFreePct; }
};

// Memory use of the fullest device if the program computed on devices, else of the host.
MemoryUse MemoryUseOf(const Timeline& timeline);

// "3.4 GB", "215 MB".
std::string BytesText(double bytes);

// "3.4 GB of 4.0 GB (85 %)".
std::string UseText(const MemoryUse& use);

}  // namespace loopscope
