// Follows the calls of the training thread: in the steps of FollowPlan, by a follower (an interpreter's). Everything
// but Use() is called on the training thread, or under the loop's lock if stated.
#pragma once

#include <cstdint>

#include "probes/preload/settings.h"

namespace loopscope::following {

struct Follower {
  // Follows the calling thread; false: not possible. step_ns: length of the previous step; 0 unknown.
  bool (*start)(std::uint64_t step_ns) noexcept;
  std::uint64_t (*stop)() noexcept;      // the calls followed, or samples taken
  bool only_details = false;             // shows lines between operators only; detail steps have the operators' own
  void (*prepare)() noexcept = nullptr;  // runs slow first-time work
};

void Start(const Settings& settings) noexcept;
// Without a follower nothing is followed.
void Use(const Follower* follower) noexcept;
// `look` is called before each followed step, as a part of it.
void CallBefore(void (*look)()) noexcept;

// In one of the program's first steps, before any is measured.
void Prepare() noexcept;
// A step ended at time_ns. Returns whether the next one is to be followed. Under the loop's lock.
bool Next(std::uint64_t time_ns, const RunWindow& window) noexcept;
// Starts or stops following, as Next() returned.
void Turn(bool follow) noexcept;
// Whether the current step is followed: once begun, following goes on to its end.
bool Follows() noexcept;
// An epoch ends in the current step.
void EpochEnds() noexcept;
// The window or the program ends. Does nothing on any thread but the followed one.
void End() noexcept;

}  // namespace loopscope::following

namespace loopscope::samples {

// Samples the line of a C++ program that runs between its operators, if the kernel allows a process to sample itself
// (perf_event_open): no signals, no threads. Written as wire::RangeCategory::kLine, a sample's period each.

// Sets sampling up, which takes milliseconds in the kernel. Without it the first Start does.
void Prepare() noexcept;
// Samples the calling thread from now on, about fifty times per step_ns (0: unknown). False: not possible here.
bool Start(std::uint64_t step_ns) noexcept;
// Writes what was sampled since. Returns the number of samples.
std::uint64_t Stop() noexcept;

}  // namespace loopscope::samples
