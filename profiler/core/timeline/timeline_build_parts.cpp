#include <algorithm>
#include <utility>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
// From the first op of the model on a batch to each backward, gaps included.
IntervalSet TimelineBuilder::Forward() const {
  std::vector<Interval> forward;
  std::int64_t from = INT64_MIN;
  auto after_last = [&](std::span<const Interval> by_start, std::int64_t before_ns) {
    const auto next = std::partition_point(by_start.begin(), by_start.end(),
                                           [&](const Interval& one) { return one.end_ns <= before_ns; });
    if (next != by_start.begin()) from = std::max(from, (next - 1)->end_ns);
  };
  for (const Interval& backward : activity_.backward) {
    after_last(activity_.steps_taken, backward.start_ns);
    after_last(timeline_.evaluation_.intervals(), backward.start_ns);
    const auto loader = std::partition_point(activity_.loaders.begin(), activity_.loaders.end(),
                                             [&](const Activity::Loader& one) { return one.time.start_ns < from; });
    if (loader != activity_.loaders.end() && loader->time.start_ns < backward.start_ns) from = loader->time.start_ns;
    const Interval* first = FirstFrom(activity_.compute, from);
    if (first && first->start_ns < backward.start_ns) forward.push_back({first->start_ns, backward.start_ns});
    from = std::max(from, backward.end_ns);
  }
  return IntervalSet(std::move(forward));
}

// Each part takes what the parts before it left over.
void TimelineBuilder::FindParts() {
  IntervalSet taken;
  auto take = [&](Part part, const IntervalSet& all) {
    timeline_.part_sets_[static_cast<std::size_t>(part)] = all.Subtract(taken);
    taken = taken.Union(all);
  };
  std::vector<Interval> syncs = activity_.sync;
  const bool device = !activity_.sync.empty() || !activity_.copies.empty();
  if (device) syncs.insert(syncs.end(), activity_.host_reads.begin(), activity_.host_reads.end());
  take(Part::kBackward, IntervalSet(activity_.backward));
  take(Part::kOptimizer, IntervalSet(activity_.optimizer));
  take(Part::kSyncWait, IntervalSet(std::move(syncs)));
  take(Part::kCommunication, IntervalSet(activity_.communication));
  take(Part::kCopyToDevice, IntervalSet(activity_.copies));
  take(Part::kLoaderWait, LoaderWait());
  take(Part::kForward, Forward());
  if (span_.start_ns < span_.end_ns) take(Part::kOther, IntervalSet({span_}));
  for (Step& step : timeline_.steps_) {
    std::int64_t rest = step.time.length();
    for (int part = 0; part < kParts; ++part) {
      if (static_cast<Part>(part) == Part::kOther) continue;
      rest -= step.parts_ns[static_cast<std::size_t>(part)] =
          timeline_.part_sets_[static_cast<std::size_t>(part)].total_ns(step.time);
    }
    step.parts_ns[static_cast<std::size_t>(Part::kOther)] = rest;
  }
}

}  // namespace loopscope
