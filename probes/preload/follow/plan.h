// Which steps have their calls followed: two of the detail window, what belongs to an epoch's start, then as many as
// cost little. Where steps of very different length turn up, one of the long ones is waited for. Knows no clock of its
// own and writes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace loopscope {

class FollowPlan {
 public:
  // Of a measured step, by measure of tests/bench/follow_cost.py: what following a call costs at most.
  static constexpr std::uint64_t kCallNs = 400;
  // Of the time that steps took since the window opened, what following may cost beyond the detail window. A step
  // counts as four of the median at most: a program that waited, for its turn or through an evaluation, is not followed
  // at once for all of that time.
  static constexpr std::uint64_t kCostShare = 50;  // 1 / 50
  static constexpr std::uint64_t kMostOfMedian = 4;
  // A step this much longer than the median of those before holds other work.
  static constexpr double kLong = 1.2;
  static constexpr std::uint64_t kMostHunted = 96;  // steps followed in search of such steps
  static constexpr std::uint64_t kMostCaught = 4;   // such steps, after which there is no more search

  // Follows nothing beyond the detail window and epochs' starts: then all ranks follow the same steps.
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

  // So many calls were followed up to the end of the step before the one at hand.
  void Followed(std::uint64_t calls) {
    cost_ns_ += calls * kCallNs;
    calls_per_step_ = std::max(calls_per_step_ * 3 / 4, calls);
  }
  // An epoch ends in the step at hand: it is followed from here on.
  void TakeIn() { followed_ = disturbed_ = true; }

 private:
  static constexpr std::size_t kKept = 15;

  void Account(std::uint64_t time_ns) {
    if (began_ns_ == 0 || !opened_) return;
    const std::uint64_t length = time_ns - began_ns_;
    const bool knows_median = count_ >= 5;
    const std::uint64_t median = knows_median ? Median() : 0;
    stepped_ns_ += knows_median ? std::min(length, kMostOfMedian * median) : length;
    const std::uint64_t own = length - (followed_ ? std::min(length / 2, calls_per_step_ * kCallNs) : 0);
    const bool is_long = knows_median && static_cast<double>(own) > kLong * static_cast<double>(median);
    if (is_long && followed_) caught_ += 1;
    if (is_long && !disturbed_ && caught_ < kMostCaught && hunted_ < kMostHunted) hunting_ = true;
    if (hunting_ && followed_ && (is_long || ++hunted_ >= kMostHunted)) hunting_ = false;
    if (!disturbed_ || is_long) return;
    Keep(length);
  }

  bool Wanted(std::int64_t detail_index) const {
    if (detail_index >= 0) return all_details_ || detail_index % 2 == 1;
    if (only_details_) return false;
    if (!hunting_ && cost_ns_ + calls_per_step_ * kCallNs > stepped_ns_ / kCostShare) return false;
    // Of each pair one, at a position drawn from a hash, so that periodic work is met as often as anything else.
    std::uint64_t hash = (number_ / 2 + 1) * 0x9e3779b97f4a7c15ull;  // splitmix64's constants
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
    return number_ % 2 == (hash >> 33) % 2;
  }

  void Keep(std::uint64_t length) { lengths_[count_++ % kKept] = length; }

  std::uint64_t Median() const {
    std::array<std::uint64_t, kKept> sorted = lengths_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kKept));
    std::nth_element(sorted.begin(), sorted.begin() + (end - sorted.begin()) / 2, end);
    return sorted[static_cast<std::size_t>(end - sorted.begin()) / 2];
  }

  std::uint64_t began_ns_ = 0, number_ = 0;
  std::uint64_t stepped_ns_ = 0;  // since the window opened
  std::uint64_t calls_per_step_ = 0, cost_ns_ = 0, hunted_ = 0, caught_ = 0;
  bool opened_ = false, followed_ = false, disturbed_ = false, hunting_ = false;
  bool only_details_ = false, all_details_ = false;
  std::array<std::uint64_t, kKept> lengths_{};
  std::size_t count_ = 0;
};

}  // namespace loopscope
