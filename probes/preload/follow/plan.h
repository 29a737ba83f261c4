// Decides which steps have their calls followed: half of the detail window, epoch starts, then as many as cost little.
// If some steps are much longer, one of them is awaited, at a regular distance if they have one. Has no clock and
// writes nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "probes/preload/follow/long_steps.h"

namespace loopscope {

class FollowPlan {
 public:
  // Upper bound on the cost of following a call, measured by tests/bench/follow_cost.py.
  static constexpr std::uint64_t kCallNs = 400;
  // Share of the steps' time since the window opened that following may cost beyond the detail window. A step
  // counts as at most four medians, so that a long wait (for a turn, an evaluation) does not become budget for
  // following.
  static constexpr std::uint64_t kCostShare = 50;  // 1 / 50
  static constexpr std::uint64_t kMostOfMedian = 4;
  static constexpr std::uint64_t kMostHunted = 96;  // steps followed in search of long ones
  static constexpr std::uint64_t kMostCaught = 4;   // long ones, after which the search ends

  // Follows only the detail window and epoch starts, so that all ranks follow the same steps.
  void OnlyDetails() { only_details_ = true; }
  // The same, but all of the detail window: the follower costs little.
  void AllDetails() { only_details_ = all_details_ = true; }

  // The next step begins at time_ns. `detail_index` is its place in the detail window, from 0; -1 outside. `boundary`:
  // an epoch ends or begins in it.
  bool Next(std::uint64_t time_ns, std::int64_t detail_index, bool measuring, bool boundary) {
    Account(time_ns);
    began_ns_ = time_ns;
    opened_ |= measuring;
    followed_ = boundary || (measuring && Wanted(detail_index));
    disturbed_ = followed_ || detail_index >= 0 || boundary;
    number_ += measuring ? 1 : 0;
    return followed_;
  }

  // Number of calls followed up to the end of the previous step.
  void Followed(std::uint64_t calls) {
    cost_ns_ += calls * kCallNs;
    calls_per_step_ = std::max(calls_per_step_ * 3 / 4, calls);
  }
  // An epoch ends in the current step: it is followed from now on.
  void TakeIn() { followed_ = disturbed_ = true; }

 private:
  // The step that has just ended was the last that Next() counted.
  void Account(std::uint64_t time_ns) {
    if (began_ns_ == 0 || !opened_) return;
    const std::uint64_t length = time_ns - began_ns_;
    const std::uint64_t most = long_steps_.knows_median() ? kMostOfMedian * long_steps_.median_ns() : length;
    stepped_ns_ += std::min(length, most);
    const std::uint64_t own = length - (followed_ ? std::min(length / 2, calls_per_step_ * kCallNs) : 0);
    const LongSteps::Kind kind = long_steps_.Add(number_, own);
    const bool sought = kind == LongSteps::Kind::kLong || kind == LongSteps::Kind::kFirstOfMany;
    if (kind == LongSteps::Kind::kFirstOfMany) caught_ = 0;
    if (sought && followed_) caught_ += 1;
    if (sought && !disturbed_ && caught_ < kMostCaught && hunted_ < kMostHunted) hunting_ = true;
    if (hunting_ && followed_ && (sought || ++hunted_ >= kMostHunted)) hunting_ = false;
  }

  bool Wanted(std::int64_t detail_index) const {
    if (detail_index >= 0) return all_details_ || detail_index % 2 == 1;
    if (only_details_) return false;
    if (hunting_ && long_steps_.Expects(number_ + 1)) return true;
    if (!hunting_ && cost_ns_ + calls_per_step_ * kCallNs > stepped_ns_ / kCostShare) return false;
    // One of each pair, at a position drawn from a hash, so that periodic work is sampled like any other.
    std::uint64_t hash = (number_ / 2 + 1) * 0x9e3779b97f4a7c15ull;  // splitmix64's constants
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
    return number_ % 2 == (hash >> 33) % 2;
  }

  LongSteps long_steps_;
  std::uint64_t began_ns_ = 0, number_ = 0;
  std::uint64_t stepped_ns_ = 0;  // since the window opened
  std::uint64_t calls_per_step_ = 0, cost_ns_ = 0, hunted_ = 0, caught_ = 0;
  bool opened_ = false, followed_ = false, disturbed_ = false, hunting_ = false;
  bool only_details_ = false, all_details_ = false;
};

}  // namespace loopscope
