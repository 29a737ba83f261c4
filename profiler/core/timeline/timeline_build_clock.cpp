#include <algorithm>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

constexpr std::size_t kMinSteps = 3;  // fewer are not enough to judge a loop

bool AnyIn(const std::vector<std::int64_t>& sorted, const Interval& time) {
  const auto found = std::ranges::lower_bound(sorted, time.start_ns);
  return found != sorted.end() && *found < time.end_ns;
}

}  // namespace

// Only of the training process: other processes of the run may have marks of their own.
std::vector<std::int64_t> TimelineBuilder::TimesOf(MarkKind kind) const {
  const Trace& trace = timeline_.trace_;
  std::vector<std::int64_t> times;
  for (const Mark& mark : trace.marks) {
    if (mark.kind != kind || mark.thread >= trace.threads.size()) continue;
    if (trace.threads[mark.thread].pid == trace.threads[timeline_.training_thread_].pid) times.push_back(mark.time_ns);
  }
  return times;
}

std::int64_t TimelineBuilder::FirstStepStart(std::int64_t first_end) const {
  if (!activity_.loaders.empty() && activity_.loaders.front().time.start_ns < first_end) {
    return activity_.loaders.front().time.start_ns;
  }
  const auto& events = timeline_.trace_.threads[timeline_.training_thread_].events;
  return events.empty() ? first_end : std::min(events.front().start_ns, first_end);
}

std::vector<Interval> TimelineBuilder::BackwardBursts() const {
  std::vector<Interval> bursts;
  for (const Interval& backward : activity_.backward) {
    const Interval* between = bursts.empty() ? nullptr : FirstFrom(activity_.compute, bursts.back().end_ns);
    if (bursts.empty() || (between != nullptr && between->start_ns < backward.start_ns)) {
      bursts.push_back(backward);
    } else {
      bursts.back().end_ns = std::max(bursts.back().end_ns, backward.end_ns);
    }
  }
  return bursts;
}

void TimelineBuilder::FindSteps() {
  const Trace& trace = timeline_.trace_;
  std::vector<Step>& steps = timeline_.steps_;
  const Interval& skipped = trace.quality.skipped.time;
  auto add = [&](std::int64_t end_ns, std::uint64_t samples) {
    Step step;
    step.time = {steps.empty() ? FirstStepStart(end_ns) : steps.back().time.end_ns, end_ns};
    if (step.time.start_ns < skipped.end_ns && end_ns > skipped.start_ns) step.time.start_ns = skipped.end_ns;
    step.samples = samples;
    if (step.time.length() > 0 || steps.empty()) steps.push_back(step);
  };
  for (const Mark& mark : trace.marks) {
    if (mark.kind != MarkKind::kStepEnd || mark.thread != timeline_.training_thread_) continue;
    timeline_.clock_ = trace.text(mark.name);  // the last name wins: the primary optimizer is chosen in warm-up
    add(mark.time_ns, mark.value);
  }
  if (steps.empty()) {
    timeline_.clock_ = "backward";
    for (const Interval& burst : BackwardBursts()) add(burst.end_ns, 0);
  }
  if (!steps.empty() && steps.front().time.length() <= 0) steps.erase(steps.begin());
  if (!steps.empty()) {
    span_.start_ns = std::min(span_.start_ns, steps.front().time.start_ns);
    span_.end_ns = std::max(span_.end_ns, steps.back().time.end_ns);
  }
  if (steps.size() >= kMinSteps) return;
  timeline_.why_no_steps_ = "only " + std::to_string(steps.size()) + (steps.size() == 1 ? " step was" : " steps were") +
                            " recorded, at least " + std::to_string(kMinSteps) + " are needed";
  steps.clear();
}

// Up to the mark where the window opens; without one the first 10 steps or a fifth of them, whichever is smaller.
void TimelineBuilder::MarkWarmup() {
  std::vector<Step>& steps = timeline_.steps_;
  const std::vector<std::int64_t> begins = TimesOf(MarkKind::kMeasureBegin);
  const std::size_t count = std::min<std::size_t>(10, (steps.size() + 4) / 5);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].warmup = begins.empty() ? i < count : steps[i].time.middle_ns() < begins.front();
  }
}

// Where one epoch turns into the next. A loader that prefetches exhausts its sampler several batches before the epoch
// ends, so kEpochEnd is used only without any kEpochStart.
std::vector<std::int64_t> TimelineBuilder::EpochInstants() const {
  if (timeline_.steps_.empty()) return {};
  std::vector<std::int64_t> starts = TimesOf(MarkKind::kEpochStart);
  std::erase_if(starts, [&](std::int64_t time) { return time < timeline_.steps_.front().time.end_ns; });
  return starts.empty() ? TimesOf(MarkKind::kEpochEnd) : starts;
}

void TimelineBuilder::MarkBoundaries() {
  const std::vector<std::int64_t> instants = EpochInstants();
  for (Step& step : timeline_.steps_) {
    step.evaluates = timeline_.evaluation_.total_ns(step.time) > 0;
    step.boundary = AnyIn(instants, step.time);
    timeline_.epoch_seen_ |= !step.warmup && (step.boundary || (instants.empty() && step.evaluates));
  }
  timeline_.evaluation_seen_ = !timeline_.evaluation_.intervals().empty();
  CountStepsPerEpoch(instants);
}

// From one boundary to the next; the first epoch counts when its start was seen. The last whole epoch wins.
void TimelineBuilder::CountStepsPerEpoch(const std::vector<std::int64_t>& instants) {
  const std::vector<Step>& steps = timeline_.steps_;
  if (steps.empty()) return;
  const std::vector<std::int64_t> starts = TimesOf(MarkKind::kEpochStart);
  bool known = !starts.empty() && starts.front() < steps.front().time.end_ns;
  std::size_t from = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i - 1].time.end_ns < steps[i].time.start_ns) known = false;  // steps between them were skipped
    if (!AnyIn(instants, steps[i].time)) continue;
    if (known && i > from) timeline_.steps_per_epoch_ = i - from;
    known = true;
    from = i;
  }
}

// From each mark `begin` to the next `end`, or to the end of all.
IntervalSet TimelineBuilder::Between(MarkKind begin, MarkKind end) const {
  std::vector<Interval> found;
  std::int64_t begun_ns = -1;
  const Trace& trace = timeline_.trace_;
  for (const Mark& mark : trace.marks) {
    const bool known = mark.thread < trace.threads.size() && timeline_.training_thread_ < trace.threads.size();
    if (known && trace.threads[mark.thread].pid != trace.threads[timeline_.training_thread_].pid) continue;
    if (mark.kind == begin && begun_ns < 0) begun_ns = mark.time_ns;
    if (mark.kind != end || begun_ns < 0) continue;
    found.push_back({begun_ns, mark.time_ns});
    begun_ns = -1;
  }
  if (begun_ns >= 0) found.push_back({begun_ns, span_.end_ns});
  return IntervalSet(std::move(found));
}

// Most of a step is followed, or none of it counts: the end of a bounded run's following is written a moment later.
void TimelineBuilder::MarkFollowed() {
  const IntervalSet followed = Between(MarkKind::kFollowBegin, MarkKind::kFollowEnd);
  for (Step& step : timeline_.steps_) step.followed = followed.total_ns(step.time) * 20 > step.time.length();
}

// All but 2 % of a step must be recorded: marks are written a moment after the step's end.
void TimelineBuilder::MarkOperators() {
  const IntervalSet without = Between(MarkKind::kOpsEnd, MarkKind::kOpsBegin);
  for (Step& step : timeline_.steps_) step.operators = without.total_ns(step.time) * 50 <= step.time.length();
}

void TimelineBuilder::MarkDetail() {
  const IntervalSet covered = Between(MarkKind::kDetailBegin, MarkKind::kDetailEnd);
  const bool all = covered.intervals().empty() && !timeline_.trace_.details.empty();
  for (Step& step : timeline_.steps_) {
    step.detail = all || covered.total_ns(step.time) * 50 >= step.time.length() * 49;
  }
}

}  // namespace loopscope
