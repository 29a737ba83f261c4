// Where the training thread evaluated: forward passes that no backward and no optimizer step follow before the loader
// is asked again.
#include <algorithm>
#include <set>
#include <utility>

#include "profiler/core/timeline_build.h"

namespace loopscope {
namespace {

bool AnyStartsIn(const std::vector<Interval>& by_start, const Interval& within) {
  const Interval* found = FirstFrom(by_start, within.start_ns);
  return found && found->start_ns < within.end_ns;
}

// The end of the last of `by_start` that starts inside `within`; `otherwise` when none does.
std::int64_t LastEndIn(const std::vector<Interval>& by_start, const Interval& within, std::int64_t otherwise) {
  auto after = std::partition_point(by_start.begin(), by_start.end(),
                                    [&](const Interval& one) { return one.start_ns < within.end_ns; });
  if (after == by_start.begin() || (after - 1)->start_ns < within.start_ns) return otherwise;
  return (after - 1)->end_ns;
}

// The part of one batch's stretch, from its draw to the next one's, that evaluates; empty when it only trains.
Interval EvaluatedIn(const Activity& activity, const Interval& batch) {
  const bool trains = AnyStartsIn(activity.backward, batch) || AnyStartsIn(activity.steps_taken, batch);
  std::int64_t from = batch.start_ns;
  if (trains) {
    from = std::max(LastEndIn(activity.backward, batch, from), LastEndIn(activity.steps_taken, batch, from));
  }
  const Interval* first = FirstFrom(activity.layers, from);
  if (!first || first->start_ns >= batch.end_ns) return {};
  const std::int64_t start = trains ? first->start_ns : batch.start_ns;
  return {start, LastEndIn(activity.compute, {from, batch.end_ns}, start)};
}

}  // namespace

std::vector<Interval> TimelineBuilder::EvaluatedBatches(const std::vector<std::int64_t>& instants) const {
  std::vector<Interval> found;
  bool joined = false;  // the batch before was evaluated to its end
  for (std::size_t i = 0; i < activity_.loaders.size(); ++i) {
    const bool last = i + 1 == activity_.loaders.size();
    const std::int64_t start_ns = activity_.loaders[i].time.start_ns;
    const std::int64_t end_ns = last ? span_.end_ns : activity_.loaders[i + 1].time.start_ns;
    const Interval evaluated = EvaluatedIn(activity_, {start_ns, end_ns});
    // Where the program was cut off in a forward pass, what would have followed is not known.
    const bool known = !last || (!instants.empty() && instants.back() >= evaluated.end_ns);
    if (evaluated.length() <= 0 || !known) {
      joined = false;
      continue;
    }
    if (joined && evaluated.start_ns == start_ns) found.back().end_ns = start_ns;
    found.push_back(evaluated);
    joined = true;
  }
  return found;
}

// A program that runs a second model, or two batches, in every step shows the same pattern: where it is no exception,
// only what lies in a step with an epoch's end counts.
void TimelineBuilder::FindEvaluation() {
  const std::vector<std::int64_t> instants = EpochInstants();
  std::vector<Interval> found = EvaluatedBatches(instants);
  std::set<int> touched;
  for (const Interval& one : found) touched.insert(timeline_.step_at(one.start_ns));
  touched.erase(-1);
  if (touched.size() * 2 > timeline_.steps_.size()) {
    std::erase_if(found, [&](const Interval& one) {
      const int step = timeline_.step_at(one.start_ns);
      if (step < 0) return false;
      const Interval time = timeline_.steps_[static_cast<std::size_t>(step)].time;
      const auto instant = std::lower_bound(instants.begin(), instants.end(), time.start_ns);
      return instant == instants.end() || *instant >= time.end_ns;
    });
  }
  found.insert(found.end(), activity_.evaluations.begin(), activity_.evaluations.end());
  timeline_.evaluation_ = IntervalSet(std::move(found));
}

}  // namespace loopscope
