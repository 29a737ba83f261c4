#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;             // of the step's work
constexpr double kMinCallsPerTensor = 0.5;     // parameters without a gradient are not clipped
constexpr std::uint64_t kMinCallsPerStep = 4;  // fewer calls are not per-tensor clipping

// One call per gradient: its norm, or values cut to a range.
bool ClipsOne(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{"aten::norm", "aten::linalg_vector_norm", "aten::clamp_",
                                                          "aten::clip_", "aten::frobenius_norm"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// Changes gradients in place: without it, norms are only read.
bool Scales(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames{"aten::mul_",  "aten::_foreach_mul_", "aten::clamp_",
                                                          "aten::clip_", "aten::div_",          "aten::_foreach_div_"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The rest of clipping by a norm: the norms' own norm, the factor, and its product with each gradient.
bool BelongsToClipping(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kNames{"aten::stack",      "aten::cat", "aten::mul_", "aten::mul",
                                                           "aten::div",        "aten::add", "aten::pow",  "aten::clamp",
                                                           "aten::reciprocal", "aten::to"};
  return ClipsOne(name) || std::ranges::find(kNames, name) != kNames.end();
}

// Stretches in which the gradients are ready and not used yet: from the end of a backward pass to the optimizer's step.
// Where the program updates its parameters itself, to the first operator of the next forward pass.
class Stretches {
 public:
  explicit Stretches(const Timeline& timeline) {
    std::int64_t ready_ns = -1;
    timeline.ForEachSteady([&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (ref.thread != timeline.training_thread()) return;
      if (event.is_range(RangeCategory::kBackward)) ready_ns = event.end_ns;
      optimizer_seen_ |= event.is_range(RangeCategory::kOptimizer);
      if (ready_ns < 0 || ready_ns >= event.start_ns) return;
      if (event.is_range(RangeCategory::kOptimizer)) {
        if (timeline.step_at(ready_ns) == timeline.step_at(event.start_ns))
          to_step_.push_back({ready_ns, event.start_ns});
      } else if (event.kind == EventKind::kOp && (event.flags & wire::kOpGraph) != 0) {
        to_forward_.push_back({ready_ns, event.start_ns});
      } else {
        return;
      }
      ready_ns = -1;
    });
  }
  const std::vector<Interval>& all() const { return optimizer_seen_ ? to_step_ : to_forward_; }

 private:
  std::vector<Interval> to_step_, to_forward_;
  bool optimizer_seen_ = false;
};

struct Clipping {
  std::uint64_t calls = 0, reads = 0, scaled = 0;
  double ms = 0;
  CallSites sites;
};

// The operators of each stretch from the first per-tensor call on.
Clipping Collect(const Timeline& timeline, const std::vector<Interval>& stretches) {
  const NameSet each(timeline.trace(), ClipsOne), any(timeline.trace(), BelongsToClipping),
      reads(timeline.trace(), ops::IsHostRead), scales(timeline.trace(), Scales);
  const OpCost cost(timeline);
  Clipping clipping;
  for (const Interval& stretch : stretches) {
    bool begun = false;
    timeline.ForEach(timeline.training_thread(), stretch, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (!timeline.outermost_op(ref)) return;
      begun |= each.Has(event);
      clipping.scaled += begun && scales.Has(event) ? 1 : 0;
      if (!begun || (!any.Has(event) && !reads.Has(event))) return;
      const double ms = cost.Ms(ref);
      clipping.ms += ms;
      clipping.reads += reads.Has(event) ? 1 : 0;
      if (!each.Has(event)) return;
      ++clipping.calls;
      clipping.sites.Add(timeline.where(ref), ms);
    });
  }
  clipping.sites.FoldUnknown();
  return clipping;
}

// Gradients that a backward pass makes, 0 where accumulation was not seen.
double TensorsPerPass(const Timeline& timeline) {
  const NameSet nodes(timeline.trace(), ops::IsAccumulateNode);
  std::uint64_t seen = 0, passes = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    seen += nodes.Has(timeline.event(ref)) ? 1 : 0;
    passes += timeline.event(ref).is_range(RangeCategory::kBackward) ? 1 : 0;
  });
  return passes == 0 ? 0 : static_cast<double>(seen) / static_cast<double>(passes);
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Stretches stretches(timeline);
  if (stretches.all().empty()) return {Finding::NotApplicable("nothing runs between a backward pass and the update")};
  const Clipping clipping = Collect(timeline, stretches.all());
  const auto steps = static_cast<double>(stretches.all().size());
  const double calls = static_cast<double>(clipping.calls) / steps;
  const double tensors = TensorsPerPass(timeline);
  if (calls < std::max(static_cast<double>(kMinCallsPerStep), kMinCallsPerTensor * tensors)) return {};
  if (clipping.scaled == 0) {
    return {
        Finding::NotApplicable("norms of gradients are taken one tensor at a time, but nothing scales the gradients")};
  }
  const double ms = MsPerStep(timeline, clipping.ms, Part::kOther);
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      Costing(timeline, ms, fmt::format("gradients are clipped one tensor at a time: {} per step", MsText(ms)));
  finding.evidence = clipping.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} norms or cuts per update", static_cast<double>(site.count) / steps);
  });
  if (clipping.reads > 0) {
    finding.evidence.push_back({fmt::format("the host reads the norm {}",
                                            TimesPerStep(CountPerStep(timeline, static_cast<double>(clipping.reads)))),
                                clipping.reads,
                                {}});
  }
  return {finding};
}

}  // namespace

extern const Analyzer kSlowClipping{.id = "slow-clipping",
                                    .question = "Are gradients clipped one tensor at a time?",
                                    .run = Run,
                                    .needs = kNeedsOps | kNeedsCosts};

}  // namespace loopscope
