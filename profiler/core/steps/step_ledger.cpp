#include "profiler/core/steps/step_ledger.h"

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

// By thread index; marks may be of threads that the trace does not list.
std::vector<std::uint64_t> StepsByThread(const Trace& trace) {
  std::vector<std::uint64_t> steps(trace.threads.size());
  const auto add = [&](std::uint32_t thread) {
    if (thread >= steps.size()) steps.resize(thread + 1);
    ++steps[thread];
  };
  for (const StepRecord& step : trace.steps) add(step.thread);
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kStepEnd) add(mark.thread);
  }
  return steps;
}

std::uint32_t PidOf(const Trace& trace, std::uint32_t thread) {
  return thread < trace.threads.size() ? trace.threads[thread].pid : 0;
}

std::uint32_t TrainingThread(const Trace& trace, std::span<const std::uint64_t> weights) {
  const std::vector<std::uint64_t> steps = StepsByThread(trace);
  const auto most = std::ranges::max_element(steps);
  const bool any = most != steps.end() && *most > 0;
  std::uint32_t pid = 0;
  if (any) {
    const auto first =
        std::ranges::find_if(steps, [&](std::uint64_t count) { return count > 0 && 2 * count >= *most; });
    pid = PidOf(trace, static_cast<std::uint32_t>(first - steps.begin()));
  }
  std::pair<std::uint64_t, std::uint64_t> best{0, 0};
  std::uint32_t thread = kNone;
  for (std::uint32_t t = 0; t < steps.size(); ++t) {
    if (any && PidOf(trace, t) != pid) continue;
    const std::pair<std::uint64_t, std::uint64_t> score{steps[t], t < weights.size() ? weights[t] : 0};
    if (score > best) {
      best = score;
      thread = t;
    }
  }
  return thread;
}

}  // namespace

StepLedger::StepLedger(const Trace& trace, std::span<const std::uint64_t> weights)
    : thread_(TrainingThread(trace, weights)), pid_(PidOf(trace, thread_)) {
  for (const Thread& thread : trace.threads) own_.push_back(thread.pid == pid_);
  for (std::uint32_t i = 0; i < trace.steps.size(); ++i) {
    const StepRecord& step = trace.steps[i];
    if (step.thread == thread_) ends_.push_back({step.end_ns, step.samples, step.clock, i});
  }
  for (const Mark& mark : trace.marks) {
    if (!IsOwn(mark.thread)) continue;
    switch (mark.kind) {
      case MarkKind::kStepEnd:
        if (mark.thread == thread_) ends_.push_back({mark.time_ns, mark.value, mark.name});
        break;
      case MarkKind::kMeasureBegin:
        if (!opens_ns_) opens_ns_ = mark.time_ns;
        break;
      case MarkKind::kMeasureEnd:
        closes_ns_ = mark.time_ns;
        break;
      case MarkKind::kEpochStart:
        epoch_starts_.push_back(mark.time_ns);
        break;
      case MarkKind::kEpochEnd:
        epoch_ends_.push_back(mark.time_ns);
        break;
      case MarkKind::kSwitch:
        switches_.push_back(mark);
        break;
      default:
        break;
    }
  }
  std::ranges::sort(epoch_starts_);
  std::ranges::sort(epoch_ends_);
  without_operators_ = Between(trace, MarkKind::kOpsEnd, MarkKind::kOpsBegin);
  detailed_ = Between(trace, MarkKind::kDetailBegin, MarkKind::kDetailEnd);
  followed_ = Between(trace, MarkKind::kFollowBegin, MarkKind::kFollowEnd);
}

bool StepLedger::IsOwn(std::uint32_t thread) const {
  return thread >= own_.size() || own_[thread];
}

IntervalSet StepLedger::Between(const Trace& trace, MarkKind begin, MarkKind end) const {
  std::vector<Interval> found;
  std::int64_t begun_ns = -1;
  for (const Mark& mark : trace.marks) {
    if (!IsOwn(mark.thread)) continue;
    if (mark.kind == begin && begun_ns < 0) begun_ns = mark.time_ns;
    if (mark.kind != end || begun_ns < 0) continue;
    found.push_back({begun_ns, mark.time_ns});
    begun_ns = -1;
  }
  if (begun_ns >= 0) found.push_back({begun_ns, INT64_MAX});
  return IntervalSet(std::move(found));
}

std::vector<std::int64_t> StepLedger::EpochTurns(std::int64_t first_step_end_ns) const {
  std::vector<std::int64_t> turns = epoch_starts_;
  std::erase_if(turns, [&](std::int64_t time_ns) { return time_ns < first_step_end_ns; });
  return turns.empty() ? epoch_ends_ : turns;
}

std::uint64_t StepsOfAll(const Trace& trace) {
  return trace.steps.size() +
         static_cast<std::uint64_t>(std::ranges::count(trace.marks, MarkKind::kStepEnd, &Mark::kind));
}

}  // namespace loopscope
