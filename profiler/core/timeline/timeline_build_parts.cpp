#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

// A model's own code between two operators takes tens of microseconds; a gap this long is other work.
constexpr std::int64_t kHostWorkNs = 500'000;

// Where neither an operator runs for long nor the thread waits, between two operators that start inside `within`.
IntervalSet LongGaps(const Activity& activity, const IntervalSet& waits, const Interval& within) {
  std::vector<Interval> gaps;
  const std::vector<Interval>& ops = activity.outermost;
  const Interval* one = FirstFrom(ops, within.start_ns);
  std::int64_t covered_to = within.start_ns;
  for (; one && one != ops.data() + ops.size() && one->start_ns < within.end_ns; ++one) {
    if (one->start_ns - covered_to > kHostWorkNs) gaps.push_back({covered_to, one->start_ns});
    covered_to = std::max(covered_to, one->end_ns);
  }
  if (within.end_ns - covered_to > kHostWorkNs && covered_to > within.start_ns) {
    gaps.push_back({covered_to, within.end_ns});
  }
  return IntervalSet(std::move(gaps)).Subtract(waits.Within(within));
}

// What the model does before its first layer that records a graph (look up embeddings, run a frozen backbone) takes few
// other operators in between. What is computed from the last output, for a log, ends in a read or is far away; so is a
// rollout, which the zeroing of gradients or host code separates from the batch.
constexpr int kMostBetween = 8;

// `after_ns`: where what came before the pass ended. `first_ns`: its first operator that is the model's for sure.
std::int64_t StartBefore(const Activity& activity, std::int64_t after_ns, std::int64_t first_ns,
                         std::int64_t layer_ns) {
  const auto last_end = [&](const std::vector<Interval>& of) {
    const Interval* after = FirstFrom(of, layer_ns);
    const Interval* end = after != nullptr ? after : of.data() + of.size();
    return end == of.data() ? INT64_MIN : (end - 1)->end_ns;
  };
  const std::int64_t from_ns = std::max({first_ns, last_end(activity.host_reads), last_end(activity.optimizer)});
  std::int64_t start_ns = layer_ns, reached_ns = layer_ns;
  const Interval* at = FirstFrom(activity.outermost, layer_ns);
  std::size_t i = at != nullptr ? static_cast<std::size_t>(at - activity.outermost.data()) : activity.outermost.size();
  // A call of the model is of it from its begin on, whatever it does in between.
  const Interval* const next = FirstFrom(activity.calls, layer_ns + 1);
  const Interval* const calls_end = next != nullptr ? next : activity.calls.data() + activity.calls.size();
  if (calls_end != activity.calls.data() && (calls_end - 1)->end_ns > layer_ns) {
    start_ns = std::max((calls_end - 1)->start_ns, after_ns);
    reached_ns = start_ns;
    i = static_cast<std::size_t>(
        std::ranges::partition_point(activity.outermost, [&](const Interval& one) { return one.start_ns < start_ns; }) -
        activity.outermost.begin());
  }
  for (int between = 0; i-- > 0 && between <= kMostBetween;) {
    const Interval& op = activity.outermost[i];
    if (op.start_ns < from_ns || reached_ns - op.end_ns > kHostWorkNs) break;
    reached_ns = op.start_ns;
    between = activity.of_model[i] ? 0 : between + 1;
    if (activity.of_model[i]) start_ns = op.start_ns;
  }
  return start_ns;
}

// What its recorder summed of a step whose operators are not in the trace: its ranges may not be, either.
std::array<std::int64_t, kParts> SummedParts(const Trace& trace, const Step& step) {
  static constexpr std::array<Part, wire::kStepSums> kPartOfSum{
      Part::kLoaderWait, Part::kForward,       Part::kBackward,     Part::kOptimizer,
      Part::kSyncWait,   Part::kCommunication, Part::kCopyToDevice, Part::kOther};
  std::array<std::int64_t, kParts> parts{};
  if (step.operators || step.record == kNone) return parts;
  const StepRecord& record = trace.steps[step.record];
  if ((record.bits & wire::kStepSummed) == 0) return parts;
  for (std::size_t i = 0; i < kPartOfSum.size(); ++i) {
    parts[static_cast<std::size_t>(kPartOfSum[i])] = static_cast<std::int64_t>(record.sums_ns[i]);
  }
  return parts;
}

}  // namespace

// From the first op of the model on a batch to each backward, without the host's own work between them.
IntervalSet TimelineBuilder::Forward() const {
  std::vector<Interval> forward, host;
  const IntervalSet waits(activity_.waits);
  std::int64_t from = INT64_MIN;
  auto after_last = [&](std::span<const Interval> by_start, std::int64_t before_ns) {
    const auto next =
        std::ranges::partition_point(by_start, [&](const Interval& one) { return one.end_ns <= before_ns; });
    if (next != by_start.begin()) from = std::max(from, (next - 1)->end_ns);
  };
  for (const Interval& backward : activity_.backward) {
    after_last(activity_.steps_taken, backward.start_ns);
    after_last(timeline_.evaluation_.intervals(), backward.start_ns);
    const auto loader = std::ranges::partition_point(
        activity_.loaders, [&](const Activity::Loader& one) { return one.time.start_ns < from; });
    if (loader != activity_.loaders.end() && loader->time.start_ns < backward.start_ns) from = loader->time.start_ns;
    const Interval* first = FirstFrom(activity_.compute, from);
    if (first != nullptr && first->start_ns < backward.start_ns) {
      const Interval* layer = FirstFrom(activity_.graph_layers, from);
      const bool has_layer = layer != nullptr && layer->start_ns < backward.start_ns;
      forward.push_back({has_layer ? StartBefore(activity_, from, first->start_ns, layer->start_ns) : first->start_ns,
                         backward.start_ns});
      std::ranges::copy(LongGaps(activity_, waits, forward.back()).intervals(), std::back_inserter(host));
    }
    from = std::max(from, backward.end_ns);
  }
  return IntervalSet(std::move(forward)).Subtract(IntervalSet(std::move(host)));
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
  const IntervalSet hooked(activity_.in_backward);
  take(Part::kBackward, IntervalSet(activity_.backward).Subtract(hooked));
  take(Part::kOptimizer, IntervalSet(activity_.optimizer).Union(hooked));
  take(Part::kSyncWait, IntervalSet(std::move(syncs)));
  take(Part::kCommunication, IntervalSet(activity_.communication));
  take(Part::kCopyToDevice, IntervalSet(activity_.copies));
  take(Part::kLoaderWait, LoaderWait());
  take(Part::kForward, Forward());
  if (span_.start_ns < span_.end_ns) take(Part::kOther, IntervalSet({span_}));
  for (Step& step : timeline_.steps_.all()) {
    const auto summed_ns = SummedParts(timeline_.trace_, step);
    std::int64_t rest = step.time.length();
    for (int part = 0; part < kParts; ++part) {
      if (static_cast<Part>(part) == Part::kOther) continue;
      const auto place = static_cast<std::size_t>(part);
      const std::int64_t seen_ns = timeline_.part_sets_[place].total_ns(step.time);
      rest -= step.parts_ns[place] = std::min(std::max(seen_ns, summed_ns[place]), rest);
    }
    step.parts_ns[static_cast<std::size_t>(Part::kOther)] = rest;
  }
}

}  // namespace loopscope
