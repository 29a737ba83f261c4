// Following the calls of the training thread: in which steps (FollowPlan), and by whom (an interpreter's follower).
// Everything but Use() is called on the training thread, or under the loop's lock where it says so.
#pragma once

#include <cstdint>

#include "probes/preload/settings.h"

namespace loopscope::following {

struct Follower {
  // Follows the calling thread; false: not possible. The step before took step_ns; 0 unknown.
  bool (*start)(std::uint64_t step_ns) noexcept;
  std::uint64_t (*stop)() noexcept;      // the calls followed, or samples taken
  bool only_details = false;             // it shows lines between operators only, which have their own in detail steps
  void (*prepare)() noexcept = nullptr;  // does what takes long the first time
};

void Start(const Settings& settings) noexcept;
// Without a follower nothing is followed.
void Use(const Follower* follower) noexcept;
// `look` is called before each step that is followed, and belongs to it.
void CallBefore(void (*look)()) noexcept;

// In one of the program's first steps, before any is measured.
void Prepare() noexcept;
// A step ended at time_ns. Returns whether the next one is to be followed. Under the loop's lock.
bool Next(std::uint64_t time_ns, const RunWindow& window) noexcept;
// Starts or stops following, as Next() returned.
void Turn(bool follow) noexcept;
// Whether the step at hand is followed: once begun that goes on to its end.
bool Follows() noexcept;
// An epoch ends in the step at hand.
void EpochEnds() noexcept;
// The window is over, or the program. On another thread than the one that is followed it does nothing.
void End() noexcept;

}  // namespace loopscope::following
