// Divides the run: each instant of it is start-up, an evaluation, an epoch's start, a step, or other work of the host
// where an epoch ends.
#include <algorithm>

#include "profiler/core/timeline/timeline_build.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

// When the process began (fact "process.start_ns"); -1 unknown.
std::int64_t ProcessStart(const Trace& trace) {
  return NumberFact(trace, "process.start_ns").value_or(-1);
}

// Evaluations whose batches follow each other without a training step in between are one.
std::vector<Interval> Joined(std::span<const Interval> evaluated, const std::vector<Interval>& backward) {
  std::vector<Interval> joined;
  for (const Interval& one : evaluated) {
    const Interval* trains = joined.empty() ? nullptr : FirstFrom(backward, joined.back().end_ns);
    if (joined.empty() || (trains != nullptr && trains->start_ns < one.start_ns)) {
      joined.push_back(one);
    } else {
      joined.back().end_ns = std::max(joined.back().end_ns, one.end_ns);
    }
  }
  return joined;
}

// The longest wait for the loader in a step, outside of evaluations; empty where there is none.
Interval LongestIn(const IntervalSet& loading, const IntervalSet& evaluations, const Interval& step) {
  const IntervalSet waits = loading.Within(step).Subtract(evaluations);
  if (waits.intervals().empty()) return {step.start_ns, step.start_ns};
  return *std::ranges::max_element(waits.intervals(), {}, &Interval::length);
}

std::int64_t Median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

}  // namespace

// Mean; where steps were skipped, between those after them. 0: fewer than two were seen.
double TimelineBuilder::StepsBetweenEvaluations() const {
  const std::vector<Interval>& all = timeline_.whole_.evaluations;
  const std::int64_t from_ns = timeline_.trace_.quality.skipped.time.end_ns;
  const auto first = std::ranges::find_if(all, [&](const Interval& one) { return one.start_ns >= from_ns; });
  if (all.end() - first < 2) return 0;
  const int first_step = timeline_.step_at(first->start_ns), last_step = timeline_.step_at(all.back().start_ns);
  if (first_step < 0 || last_step <= first_step) return 0;
  return static_cast<double>(last_step - first_step) / static_cast<double>(all.end() - first - 1);
}

// A step in which an epoch turns holds, besides its evaluation: what the loader takes beyond a plain step's wait (the
// epoch's start), a plain step, and a rest.
void TimelineBuilder::FindWhole() {
  const std::span<const Step> steps = timeline_.steps();
  WholeRun& whole = timeline_.whole_;
  if (steps.empty()) return;
  const IntervalSet& loading = timeline_.part(Part::kLoaderWait);
  std::vector<std::int64_t> lengths, waits;
  for (const Step& step : steps) {
    if (!step.plain()) continue;
    lengths.push_back(step.time.length());
    waits.push_back(loading.total_ns(step.time));
  }
  const std::int64_t plain_ns = Median(lengths), plain_wait_ns = Median(waits);
  whole.evaluations = Joined(timeline_.evaluation_.intervals(), activity_.backward);
  whole.evaluated_after = std::erase_if(whole.evaluations, [&](const Interval& one) {
                            return one.start_ns >= steps.back().time.end_ns;
                          }) > 0;
  const IntervalSet evaluations(whole.evaluations);
  const std::int64_t started_ns = ProcessStart(timeline_.trace_);
  const std::int64_t first_ns = steps.front().time.start_ns;
  if (started_ns >= 0 && started_ns < first_ns) whole.start_up_ns = first_ns - started_ns;
  const std::vector<std::int64_t>& turns = ledger_->epoch_starts();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Interval& time = steps[i].time;
    const std::int64_t evaluated_ns = evaluations.total_ns(time);
    std::int64_t rest_ns = time.length() - evaluated_ns;
    whole.evaluation_ns += evaluated_ns;
    ++whole.steps;
    const auto turn = std::ranges::lower_bound(turns, time.start_ns);
    const bool begins = (turn != turns.end() && *turn < time.end_ns) || i == 0;
    if ((steps[i].boundary || begins) && !lengths.empty()) {
      const std::int64_t wait_ns = loading.Within(time).Subtract(evaluations).total_ns();
      const std::int64_t start_ns = std::clamp<std::int64_t>(wait_ns - plain_wait_ns, 0, rest_ns);
      const std::int64_t other_ns = std::max<std::int64_t>(rest_ns - start_ns - plain_ns, 0);
      whole.epoch_starts_ns += start_ns;
      // The first step is slow for reasons of its own: it is start-up.
      (i == 0 ? whole.start_up_ns : whole.other_ns) += other_ns;
      rest_ns -= start_ns + other_ns;
      if (begins) {
        whole.epoch_starts.push_back(LongestIn(loading, evaluations, time));
        const Interval before{time.start_ns, whole.epoch_starts.back().start_ns};
        const IntervalSet rest = IntervalSet({before}).Subtract(evaluations).Subtract(loading.Within(before));
        const auto& parts = rest.intervals();
        if (i > 0) whole.before_epoch_starts.insert(whole.before_epoch_starts.end(), parts.begin(), parts.end());
      }
    }
    whole.steps_ns += rest_ns;
  }
  whole.steps_between_evaluations = StepsBetweenEvaluations();
}

}  // namespace loopscope
