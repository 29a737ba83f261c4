// Where steps begin and end, from what the recording says or else from bursts of backward passes.
#include <algorithm>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

constexpr std::size_t kMinSteps = 3;  // fewer are not enough to judge a loop

}  // namespace

std::int64_t TimelineBuilder::FirstStepStart(std::int64_t first_end) const {
  if (!activity_.loaders.empty() && activity_.loaders.front().time.start_ns < first_end) {
    return activity_.loaders.front().time.start_ns;
  }
  const auto& events = timeline_.trace_.threads[timeline_.training_thread_].events;
  return events.empty() ? first_end : std::min(events.front().start_ns, first_end);
}

// Backward passes with no work of the model between them are one step's.
std::vector<StepEnd> TimelineBuilder::BackwardBursts() const {
  std::vector<StepEnd> ends;
  for (const Interval& backward : activity_.backward) {
    const Interval* between = ends.empty() ? nullptr : FirstFrom(activity_.compute, ends.back().time_ns);
    if (ends.empty() || (between != nullptr && between->start_ns < backward.start_ns)) {
      ends.push_back({backward.end_ns});
    } else {
      ends.back().time_ns = std::max(ends.back().time_ns, backward.end_ns);
    }
  }
  return ends;
}

void TimelineBuilder::FindSteps() {
  std::vector<StepEnd> ends(ledger_->ends().begin(), ledger_->ends().end());
  if (ends.empty()) {
    ends = BackwardBursts();
    Trace& trace = timeline_.trace_;
    trace.strings.emplace_back("backward");
    for (StepEnd& end : ends) end.clock = static_cast<StringId>(trace.strings.size() - 1);
  }
  StepTable& steps = timeline_.steps_;
  if (!ends.empty()) steps = {timeline_.trace_, *ledger_, ends, FirstStepStart(ends.front().time_ns)};
  timeline_.epoch_starts_ = ledger_->epoch_starts();
  const std::size_t count = steps.all().size();
  if (count > 0) {
    span_.start_ns = std::min(span_.start_ns, steps.all().front().time.start_ns);
    span_.end_ns = std::max(span_.end_ns, steps.all().back().time.end_ns);
  }
  if (count >= kMinSteps) return;
  timeline_.why_no_steps_ = "only " + std::to_string(count) + (count == 1 ? " step was" : " steps were") +
                            " recorded, at least " + std::to_string(kMinSteps) + " are needed";
  steps = {};
}

void TimelineBuilder::ChooseSteps() {
  timeline_.steps_.Choose();
  DropUnrecordedSteps();
  if (!timeline_.steady().empty() || !timeline_.why_no_steps_.empty()) return;
  timeline_.why_no_steps_ = "none of the " + std::to_string(timeline_.steps().size()) +
                            " recorded steps is a plain one after warm-up; let the program run longer";
}

}  // namespace loopscope
