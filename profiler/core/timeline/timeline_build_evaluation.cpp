// Where the training thread evaluated: forward passes with no backward pass or optimizer step before the next batch is
// drawn, and with a further sign that they are not training batches which the program skips.
#include <algorithm>
#include <set>
#include <utility>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

bool AnyStartsIn(const std::vector<Interval>& by_start, const Interval& within) {
  const Interval* found = FirstFrom(by_start, within.start_ns);
  return found != nullptr && found->start_ns < within.end_ns;
}

// The end of the last of `by_start` that starts inside `within`; `otherwise` when none does.
std::int64_t LastEndIn(const std::vector<Interval>& by_start, const Interval& within, std::int64_t otherwise) {
  auto after =
      std::ranges::partition_point(by_start, [&](const Interval& one) { return one.start_ns < within.end_ns; });
  if (after == by_start.begin() || (after - 1)->start_ns < within.start_ns) return otherwise;
  return (after - 1)->end_ns;
}

// The evaluating part of one batch's stretch, from its draw to the next one's; empty when it only trains.
Interval EvaluatedIn(const Activity& activity, const Interval& batch) {
  const bool trains = AnyStartsIn(activity.backward, batch) || AnyStartsIn(activity.steps_taken, batch);
  std::int64_t from = batch.start_ns;
  if (trains) {
    from = std::max(LastEndIn(activity.backward, batch, from), LastEndIn(activity.steps_taken, batch, from));
  }
  const Interval* first = FirstFrom(activity.layers, from);
  if (first == nullptr || first->start_ns >= batch.end_ns) return {};
  const std::int64_t start = trains ? first->start_ns : batch.start_ns;
  return {start, LastEndIn(activity.compute, {from, batch.end_ns}, start)};
}

// Distinguishes a pass over evaluation data from a training batch that the program skips (a triplet that is too easy, a
// loss that is not finite): by another loader, modules in evaluation mode, or its place between two epochs.
class EvaluationSigns {
 public:
  EvaluationSigns(const Activity& activity, const std::vector<std::int64_t>& epoch_starts,
                  const std::vector<std::int64_t>& epoch_ends)
      : activity_(activity) {
    for (std::size_t i = 0; i < activity.loaders.size(); ++i) {
      const bool last = i + 1 == activity.loaders.size();
      const std::int64_t end_ns = last ? INT64_MAX : activity.loaders[i + 1].time.start_ns;
      const bool trains = AnyStartsIn(activity.backward, {activity.loaders[i].time.start_ns, end_ns});
      if (trains) trained_.insert(activity.loaders[i].name);
    }
    for (const auto& [time_ns, training] : activity.modes) training_mode_seen_ |= training;
    for (const std::int64_t time_ns : epoch_starts) turns_.push_back({time_ns, true});
    for (const std::int64_t time_ns : epoch_ends) turns_.push_back({time_ns, false});
    std::ranges::sort(turns_);
  }

  // `work`: from the first layer to the last operator of the model.
  bool Hold(StringId loader, const Interval& work) const {
    return !trained_.contains(loader) || InEvaluationMode(work) || BetweenEpochs(work);
  }

 private:
  // Modules that are never seen in training mode are frozen and prove nothing.
  bool InEvaluationMode(const Interval& work) const {
    auto mode = std::ranges::lower_bound(activity_.modes, std::pair{work.start_ns, false});
    bool any = false;
    for (; mode != activity_.modes.end() && mode->first < work.end_ns; ++mode) {
      if (mode->second) return false;
      any = true;
    }
    return any && training_mode_seen_;
  }

  // With no training in between, an epoch ends before it or an epoch starts after it; for the first and the last batch
  // of an epoch it is the other way round.
  bool BetweenEpochs(const Interval& work) const {
    constexpr std::int64_t kEver = INT64_MIN;
    const Interval before{kEver, work.start_ns};
    const std::int64_t trained_ns =
        std::max(LastEndIn(activity_.backward, before, kEver), LastEndIn(activity_.steps_taken, before, kEver));
    const Interval* next = FirstFrom(activity_.backward, work.end_ns);
    const auto after = std::ranges::lower_bound(turns_, std::pair{work.start_ns, false});
    if (after != turns_.begin() && (after - 1)->first >= trained_ns && !(after - 1)->second) return true;
    const auto behind = std::ranges::lower_bound(turns_, std::pair{work.end_ns, false});
    return behind != turns_.end() && (next == nullptr || behind->first < next->start_ns) && behind->second;
  }

  const Activity& activity_;
  std::set<StringId> trained_;  // loaders whose batches a backward pass followed
  bool training_mode_seen_ = false;
  std::vector<std::pair<std::int64_t, bool>> turns_;  // where epochs start (true) and end
};

}  // namespace

std::vector<Interval> TimelineBuilder::EvaluatedBatches() const {
  const std::vector<std::int64_t>& turns = timeline_.steps_.epoch_turns();
  const EvaluationSigns signs(activity_, ledger_->epoch_starts(), ledger_->epoch_ends());
  std::vector<Interval> found;
  bool joined = false;  // the batch before was evaluated to its end
  for (std::size_t i = 0; i < activity_.loaders.size(); ++i) {
    const bool last = i + 1 == activity_.loaders.size();
    const std::int64_t start_ns = activity_.loaders[i].time.start_ns;
    const std::int64_t end_ns = last ? span_.end_ns : activity_.loaders[i + 1].time.start_ns;
    const Interval evaluated = EvaluatedIn(activity_, {start_ns, end_ns});
    // If the program was cut off in a forward pass, what would have followed is unknown.
    const bool known = !last || (!turns.empty() && turns.back() >= evaluated.end_ns);
    const Interval* layer = FirstFrom(activity_.layers, evaluated.start_ns);
    const bool evaluates = evaluated.length() > 0 && layer != nullptr &&
                           signs.Hold(activity_.loaders[i].name, {layer->start_ns, evaluated.end_ns});
    if (!evaluates || !known) {
      joined = false;
      continue;
    }
    if (joined && evaluated.start_ns == start_ns) found.back().end_ns = start_ns;
    found.push_back(evaluated);
    joined = true;
  }
  return found;
}

// A program that runs a second model, or two batches, in every step shows the same pattern, and one that evaluates
// after each step has no step without: if most steps show it, only evaluation in a step with an epoch's end counts.
void TimelineBuilder::FindEvaluation() {
  const std::span<const Step> steps = timeline_.steps();
  std::vector<Interval> found = EvaluatedBatches();
  found.insert(found.end(), activity_.evaluations.begin(), activity_.evaluations.end());
  std::set<int> touched;
  for (const Interval& one : found) {
    const int step = timeline_.step_at(one.start_ns);
    if (step >= 0 && steps[static_cast<std::size_t>(step)].operators) touched.insert(step);
  }
  const auto looked_at = std::ranges::count_if(steps, &Step::operators);
  if (std::ssize(touched) * 2 > looked_at) {
    std::erase_if(found, [&](const Interval& one) {
      const int step = timeline_.step_at(one.start_ns);
      return step >= 0 && !steps[static_cast<std::size_t>(step)].boundary;
    });
  }
  timeline_.evaluation_ = IntervalSet(std::move(found));
  timeline_.steps_.MarkEvaluations(timeline_.evaluation_);
}

}  // namespace loopscope
