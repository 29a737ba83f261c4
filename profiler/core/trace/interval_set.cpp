#include "profiler/core/trace/interval_set.h"

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

bool ByStart(const Interval& a, const Interval& b) {
  return a.start_ns < b.start_ns;
}

// Merges touching intervals of `sorted` (by start), in place: there may be one for each event of a trace.
std::vector<Interval> Merged(std::vector<Interval> sorted) {
  std::size_t kept = 0;
  for (const Interval one : sorted) {
    if (one.end_ns <= one.start_ns) continue;  // not length(): an empty span may be {INT64_MAX, INT64_MIN}
    if (kept > 0 && one.start_ns <= sorted[kept - 1].end_ns) {
      sorted[kept - 1].end_ns = std::max(sorted[kept - 1].end_ns, one.end_ns);
    } else {
      sorted[kept++] = one;
    }
  }
  sorted.resize(kept);
  if (kept < sorted.capacity() / 2) sorted.shrink_to_fit();
  return sorted;
}

}  // namespace

IntervalSet::IntervalSet(std::vector<Interval> any_order) {
  if (!std::ranges::is_sorted(any_order, ByStart)) {
    std::ranges::sort(any_order, ByStart);
  }
  intervals_ = Merged(std::move(any_order));
}

std::int64_t IntervalSet::total_ns() const {
  std::int64_t total = 0;
  for (const Interval& one : intervals_) total += one.length();
  return total;
}

std::int64_t IntervalSet::total_ns(Interval within) const {
  auto one = std::ranges::partition_point(intervals_, [&](const Interval& i) { return i.end_ns <= within.start_ns; });
  std::int64_t total = 0;
  for (; one != intervals_.end() && one->start_ns < within.end_ns; ++one) {
    total += std::min(one->end_ns, within.end_ns) - std::max(one->start_ns, within.start_ns);
  }
  return total;
}

IntervalSet IntervalSet::Within(Interval within) const {
  auto one = std::ranges::partition_point(intervals_, [&](const Interval& i) { return i.end_ns <= within.start_ns; });
  IntervalSet result;
  for (; one != intervals_.end() && one->start_ns < within.end_ns; ++one) {
    const Interval inside{std::max(one->start_ns, within.start_ns), std::min(one->end_ns, within.end_ns)};
    if (inside.length() > 0) result.intervals_.push_back(inside);
  }
  return result;
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  std::vector<Interval> all(intervals_.size() + other.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), other.intervals_.begin(), other.intervals_.end(), all.begin(),
             ByStart);
  IntervalSet result;
  result.intervals_ = Merged(std::move(all));
  return result;
}

IntervalSet IntervalSet::Intersect(const IntervalSet& other) const {
  IntervalSet result;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Interval common{std::max(a->start_ns, b->start_ns), std::min(a->end_ns, b->end_ns)};
    if (common.length() > 0) result.intervals_.push_back(common);
    if (a->end_ns < b->end_ns) {
      ++a;
    } else {
      ++b;
    }
  }
  return result;
}

IntervalSet IntervalSet::Subtract(const IntervalSet& other) const {
  IntervalSet result;
  auto cut = other.intervals_.begin();
  for (Interval rest : intervals_) {
    while (cut != other.intervals_.end() && cut->end_ns <= rest.start_ns) ++cut;
    for (auto c = cut; c != other.intervals_.end() && c->start_ns < rest.end_ns; ++c) {
      if (c->start_ns > rest.start_ns) result.intervals_.push_back({rest.start_ns, c->start_ns});
      rest.start_ns = std::max(rest.start_ns, c->end_ns);
    }
    if (rest.length() > 0) result.intervals_.push_back(rest);
  }
  return result;
}

}  // namespace loopscope
