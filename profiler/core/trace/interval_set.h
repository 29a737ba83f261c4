// Sets of time intervals: unions, overlaps, differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loopscope {

struct Interval {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t length() const { return end_ns - start_ns; }
  std::int64_t middle_ns() const { return start_ns + length() / 2; }
};

// Disjoint, sorted intervals.
class IntervalSet {
 public:
  IntervalSet() = default;
  explicit IntervalSet(std::vector<Interval> any_order);  // overlapping ones are merged, empty ones dropped

  std::span<const Interval> intervals() const { return intervals_; }
  std::int64_t total_ns() const;
  std::int64_t total_ns(Interval within) const;  // length of the part inside `within`, O(log n + hits)
  IntervalSet Within(Interval within) const;     // the parts inside, likewise
  IntervalSet Union(const IntervalSet& other) const;
  IntervalSet Intersect(const IntervalSet& other) const;
  IntervalSet Subtract(const IntervalSet& other) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace loopscope
