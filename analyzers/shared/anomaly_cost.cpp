#include "analyzers/shared/anomaly_cost.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analyzers/shared/events.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinWorkShare = 0.05;
constexpr std::size_t kStepsLookedAt = 8;

// What the engine calls on each gradient under anomaly mode (torch/csrc/autograd/engine.cpp: isnan, _is_any_true,
// item).
bool IsNanCheck(std::string_view name) {
  return name == "aten::isnan" || name == "aten::ne" || name == "aten::any" || name == "aten::_is_any_true" ||
         name == "aten::item";
}

bool InAnomaly(const Event& event) {
  return event.kind == EventKind::kOp && (event.flags & wire::kOpAnomaly);
}

double Median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Sums over the steady steps, before they are divided by the number of steps.
class Meter {
 public:
  explicit Meter(const Timeline& timeline)
      : timeline_(timeline),
        checks_(timeline.trace(), IsNanCheck),
        views_(timeline.trace(), ops::IsView),
        nodes_(timeline.trace(), ops::IsBackwardNode) {}

  void Visit(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (event.is_range(RangeCategory::kBackward) && !cost_.backward) {
      if (const Where* where = timeline_.where(ref)) cost_.backward = *where;
    }
    if (!InAnomaly(event)) return;
    if (nodes_.Has(event)) {
      cost_.checks_ms += Ms(timeline_.self_ns(ref));
    } else if (event.flags & wire::kOpGraph) {
      AddRecording(ref);
    } else if (checks_.Has(event) && BelowNode(ref)) {
      cost_.checks_ms += Ms(event.duration_ns());
      ++cost_.checks;
    }
  }

  AnomalyCost Take() {
    const double least = all_.empty() ? 0 : *std::ranges::min_element(all_);
    cost_.ms_per_node = recorded_by_views_.empty() ? least : Median(recorded_by_views_);
    cost_.checks_ms = MsPerStep(timeline_, cost_.checks_ms, Part::kBackward);
    cost_.recording_ms = MsPerStep(timeline_, cost_.recording_ms);
    for (double* total : {&cost_.checks, &cost_.nodes}) *total = CountPerStep(timeline_, *total);
    return cost_;
  }

 private:
  bool BelowNode(EventRef ref) const {
    const std::uint32_t parent = timeline_.parent(ref);
    return parent != kNone && nodes_.Has(timeline_.event({ref.thread, parent}));
  }

  // The op's own time. A node is counted once, at the deepest op that made it: one without a graph op inside.
  void AddRecording(EventRef ref) {
    const double own_ms = Ms(timeline_.self_ns(ref));
    cost_.recording_ms += own_ms;
    const std::vector<Event>& events = timeline_.trace().threads[ref.thread].events;
    for (std::uint32_t i = ref.index + 1; i < events.size() && events[i].start_ns < events[ref.index].end_ns; ++i) {
      if (events[i].kind == EventKind::kOp && (events[i].flags & wire::kOpGraph)) return;
    }
    ++cost_.nodes;
    all_.push_back(own_ms);
    if (views_.Has(events[ref.index])) recorded_by_views_.push_back(own_ms);
  }

  const Timeline& timeline_;
  NameSet checks_, views_, nodes_;
  AnomalyCost cost_;
  std::vector<double> all_, recorded_by_views_;
};

// Looks at a few steps: where anomaly mode is on in some steps only, it changes the mean step little.
bool InAnomalyMode(const Timeline& timeline) {
  const std::size_t every = std::max<std::size_t>(timeline.steady().size() / kStepsLookedAt, 1);
  bool any = false;
  for (std::size_t i = 0; i < timeline.steady().size() && !any; i += every) {
    timeline.ForEach(timeline.training_thread(), timeline.steps()[timeline.steady()[i]].time,
                     [&](EventRef ref) { any |= InAnomaly(timeline.event(ref)); });
  }
  return any;
}

}  // namespace

AnomalyCost MeasureAnomaly(const Timeline& timeline) {
  if (timeline.steady().empty()) return {};
  Meter meter(timeline);
  timeline.ForEachSteady([&](EventRef ref) { meter.Visit(ref); });
  return meter.Take();
}

double WorkMs(const Timeline& timeline) {
  const double mean_ms = timeline.mean_step_ms();
  if (!InAnomalyMode(timeline)) return mean_ms;
  return std::max(mean_ms - MeasureAnomaly(timeline).likely_ms(), kMinWorkShare * mean_ms);
}

}  // namespace loopscope
