// The collectives of a rank by process group, kind and the phase of the step that launched them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// In the steady steps; where there are none, in all that the devices did.
struct CollectiveTimes {
  std::string group, operation;               // "0 (default_pg)", "allreduce"; group "" where it is not recorded
  std::optional<Part> phase;                  // forward, backward or optimizer; empty where the launch is not known
  int ranks = 0;                              // in the group; 0 unknown
  std::uint64_t count = 0, bytes = 0;         // messages; bytes 0 unknown
  std::int64_t total_ns = 0, exposed_ns = 0;  // exposed: while the rank did nothing else
  std::int64_t sum_ns = 0;                    // of the lengths of those whose size is known
  double bus_bytes = 0;                       // that the links carried for them
};

// Costliest first, by what is exposed.
std::vector<CollectiveTimes> CollectivesOf(const Timeline& timeline);

// "0 (default_pg)"; without a purpose "0".
std::string GroupText(const Trace& trace, StringId group, StringId purpose);

// "allreduce of group 0 (default_pg)"; "allreduce" where the group is not recorded.
std::string OfGroup(std::string_view operation, std::string_view group);

// "_allgather_base", "all_gather_into_tensor" and "AllGather" → "allgather"; others in lower case: "send".
std::string PlainOperation(std::string_view operation);

// The part of the step, of those that launch collectives, in which the host was at this time.
std::optional<Part> PhaseAt(const Timeline& timeline, std::int64_t host_ns);

// What each link of a ring carries per byte of the message, as NCCL's own tests count it: 2 (n - 1) / n for an
// allreduce, (n - 1) / n where each rank ends with, or gives, one part of n. 1 for others; 0 where the group's size is
// not known.
double BusFactor(std::string_view plain_operation, int ranks);

}  // namespace loopscope
