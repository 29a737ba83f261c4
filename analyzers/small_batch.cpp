#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/loops.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/communication.h"
#include "profiler/core/trace/facts.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

// Calling an operator and recording its node take 5 to 10 us (measured with empty tensors): under twice that, most of
// an operator's time does not depend on the batch.
constexpr double kShortOpUs = 20;
constexpr double kMinShortPct = 50;  // of the time in operators of the forward and backward pass
constexpr double kMinIdlePct = 10;   // of the step, idle waiting for launches
constexpr std::size_t kMostPlaces = 3;
constexpr double kTiny = 4;        // samples per step: too few for any processor, without a trial
constexpr double kGain = 0.5;      // of the calls' time per sample, with twice the samples in a step
constexpr double kJoined = 0.8;    // of what all passes but one take, with one for all: measured, 3.5 times as fast
constexpr double kManyPasses = 8;  // of a step, backward
constexpr double kMostTiny = 0.8;  // of the products: the passes work on as few samples

struct OpTimes {
  double all_ms = 0, short_ms = 0;  // per step
  std::uint64_t short_ops = 0;
};

// Operators of the forward and backward pass without another inside, on the training thread and the autograd engine's;
// ranges do not count. A larger batch does not amortise other work (loading, averaging weights, logging).
class OpsOfPasses {
 public:
  explicit OpsOfPasses(const Timeline& timeline)
      : timeline_(timeline), passes_(timeline.part(Part::kForward).Union(timeline.part(Part::kBackward))) {}
  bool Has(EventRef ref) const {
    const Event& event = timeline_.event(ref);
    return event.kind == EventKind::kOp && passes_.total_ns({event.start_ns, event.end_ns}) > 0;
  }

 private:
  const Timeline& timeline_;
  IntervalSet passes_;
};

OpTimes MeasureOps(const Timeline& timeline) {
  OpTimes times;
  const OpsOfPasses ops(timeline);
  timeline.ForEachSteady([&](EventRef ref) {
    if (!ops.Has(ref)) return;
    const double own_ms = Ms(timeline.self_ns(ref));
    times.all_ms += own_ms;
    if (own_ms * 1e3 >= kShortOpUs) return;
    times.short_ms += own_ms;
    ++times.short_ops;
  });
  times.all_ms = MsPerStep(timeline, times.all_ms);
  times.short_ms = MsPerStep(timeline, times.short_ms);
  return times;
}

// The short ones of the detailed steps, by the lines that cause them.
CallSites SitesOf(const Timeline& timeline) {
  CallSites sites;
  const OpsOfPasses ops(timeline);
  const ForwardLines lines(timeline);
  timeline.ForEachDetailed([&](EventRef ref) {
    const double own_ms = Ms(timeline.self_ns(ref));
    if (own_ms * 1e3 < kShortOpUs && ops.Has(ref)) sites.Add(lines.Of(ref), own_ms);
  });
  return sites;
}

// Time that a larger batch would spread over more samples.
Finding OfOps(const Timeline& timeline, const OpTimes& times) {
  Finding finding = CostingAtMost(
      timeline, times.short_ms,
      fmt::format(
          "operators are too short for their calls: {} per step in operators under {:.0f} µs, and memory is free",
          MsText(times.short_ms), kShortOpUs));
  finding.evidence.push_back(
      {fmt::format("{:.0f} such operators per step, {:.0f} % of the time in operators",
                   CountPerStep(timeline, static_cast<double>(times.short_ops)), 100 * times.short_ms / times.all_ms),
       times.short_ops,
       {}});
  for (const CallSites::Site& site : SitesOf(timeline).Ordered()) {
    if (!site.where || finding.evidence.size() > kMostPlaces) break;
    finding.evidence.push_back(
        {fmt::format("{:.0f} of them per step, those that the backward pass runs for it included",
                     static_cast<double>(site.count) / timeline.detail_steps()),
         site.count, site.where});
  }
  return finding;
}

Finding OfLaunches(const Timeline& timeline, double idle_ms) {
  return CostingAtMost(timeline, idle_ms,
                       fmt::format("the GPU waits {} per step for launches, and its memory is free", MsText(idle_ms)));
}

// What a step spends on passes for few samples each, whose gradients it then joins.
struct TinyPasses {
  double backward = 0;  // passes per step
  double ms = 0;        // per step, forward and backward
  CallSites sites;      // where they begin
  std::uint64_t products = 0, tiny = 0;
  bool seen() const {
    return backward >= kManyPasses && static_cast<double>(tiny) >= kMostTiny * static_cast<double>(products) &&
           tiny > 0;
  }
};

// Samples that a product of the forward pass works on: its input's first dimension, or one.
std::int64_t BatchOf(std::string_view name, std::string_view inputs) {
  const std::vector<TensorText> all = ParseInputs(inputs);
  const std::size_t input = name == "aten::addmm" || name == "aten::baddbmm" ? 1 : 0;
  if (input >= all.size() || !all[input].is_tensor || !all[input].defined) return 0;
  return all[input].sizes.size() < 2 ? 1 : all[input].sizes.front();
}

// Backward passes of the detailed steps that accumulate gradients, by time: torch.autograd.grad returns its own, which
// the next pass may need.
std::vector<EventRef> AddingPasses(const Timeline& timeline) {
  std::vector<EventRef> ranges;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!timeline.event(ref).is_range(RangeCategory::kBackward)) return;
    if (!timeline.inside(ref, RangeCategory::kOptimizer) && !timeline.inside(ref, RangeCategory::kBackward))
      ranges.push_back(ref);
  });
  const auto start = [&](EventRef ref) { return timeline.event(ref).start_ns; };
  std::ranges::sort(ranges, {}, start);
  std::vector<bool> adds(ranges.size());
  const NameSet adding(timeline.trace(), [](std::string_view name) { return name.ends_with("::AccumulateGrad"); });
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!adding.Has(timeline.event(ref))) return;
    const auto after = std::ranges::upper_bound(ranges, start(ref), {}, start);
    if (after != ranges.begin()) adds[static_cast<std::size_t>(after - ranges.begin()) - 1] = true;
  });
  std::vector<EventRef> passes;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (adds[i]) passes.push_back(ranges[i]);
  }
  return passes;
}

TinyPasses PassesOf(const Timeline& timeline) {
  TinyPasses passes;
  if (timeline.detail_steps() == 0) return passes;
  for (const EventRef ref : AddingPasses(timeline)) passes.sites.Add(timeline.where(ref));
  passes.sites.FoldUnknown();
  passes.backward = static_cast<double>(passes.sites.count()) / timeline.detail_steps();
  if (passes.backward < kManyPasses) return passes;
  passes.ms = MsInAStep(timeline, timeline.part(Part::kForward).Union(timeline.part(Part::kBackward)));
  const NameSet products(timeline.trace(), ops::IsProduct);
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!products.Has(timeline.event(ref)) || timeline.inside(ref, RangeCategory::kBackward)) return;
    const std::int64_t batch = BatchOf(timeline.trace().text(timeline.event(ref).name), timeline.inputs(ref));
    passes.products += batch > 0;
    passes.tiny += batch > 0 && static_cast<double>(batch) <= kTiny;
  });
  return passes;
}

// One pass for all samples of a step trains as these do.
void BlameManyPasses(const Timeline& timeline, const TinyPasses& passes, Finding& finding) {
  finding.title = fmt::format("a step runs {:.3g} backward passes for a few samples each, {} with their forward passes",
                              passes.backward, MsText(passes.ms));
  Finding joined = CostingAtMost(timeline, passes.ms * (1 - 1 / passes.backward), finding.title);
  joined.expected_gain_ms = kJoined * joined.cost_ms_per_step;
  joined.severity = SeverityOfShare(SharePct(timeline, *joined.expected_gain_ms));
  joined.evidence = passes.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.3g} backward passes per step", static_cast<double>(site.count) / timeline.detail_steps());
  });
  joined.evidence.insert(joined.evidence.end(), finding.evidence.begin(), finding.evidence.end());
  joined.advice =
      "Give all samples of a step to the model at once: the gradient of their mean loss is the same, and each operator "
      "is called once. Where each sample's own gradient is needed, torch.func.vmap over torch.func.grad makes them in "
      "one pass.";
  finding = std::move(joined);
}

// Samples per step, on average; 0 where some step's are not known.
double SamplesOf(const Timeline& timeline) {
  double sum = 0;
  for (const std::uint32_t index : timeline.steady()) {
    const std::uint64_t samples = timeline.steps()[index].samples;
    if (samples == 0) return 0;
    sum += static_cast<double>(samples);
  }
  return CountPerStep(timeline, sum);
}

// The batch itself takes the time, however well a larger one trains.
void BlameTinyBatch(const Timeline& timeline, double samples, Finding& finding) {
  finding.title = fmt::format("a step trains on {:.3g} sample{}: {}", samples, samples == 1 ? "" : "s", finding.title);
  finding.expected_gain_ms = kGain * finding.cost_ms_per_step;
  finding.severity = SeverityOfShare(SharePct(timeline, *finding.expected_gain_ms));
  const auto made = PlaceOf(FactOf(timeline.trace(), "loader.where"));
  finding.evidence.insert(finding.evidence.begin(),
                          {fmt::format("batches of {:.3g}", samples), 1, made ? made : LoaderAskedAt(timeline)});
}

std::vector<Finding> Judge(const Timeline& timeline, Finding finding) {
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) {
    return {Finding::CannotTell(
        fmt::format("the batch is small for the calls it takes, but whether a larger one fits is not known: {}",
                    memory.why_unknown))};
  }
  if (!memory.free()) return {};
  finding.severity = Severity::kInfo;  // whether a larger batch trains as well is unknown
  if (const double samples = SamplesOf(timeline); samples > 0 && samples <= kTiny) {
    BlameTinyBatch(timeline, samples, finding);
  } else if (const TinyPasses passes = PassesOf(timeline); passes.seen()) {
    BlameManyPasses(timeline, passes, finding);
  }
  finding.evidence.push_back({fmt::format("memory at the peak: {}", UseText(memory)), 1, {}});
  return {std::move(finding)};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (OnDevice(timeline)) {
    if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
    const double idle_ms = IdleMs(timeline, IdleCause::kLaunch);
    if (SharePct(timeline, idle_ms) < kMinIdlePct) return {};
    return Judge(timeline, OfLaunches(timeline, idle_ms));
  }
  const OpTimes times = MeasureOps(timeline);
  if (times.all_ms <= 0 || 100 * times.short_ms < kMinShortPct * times.all_ms) return {};
  return Judge(timeline, OfOps(timeline, times));
}

constexpr std::array kClaims = {Claim{Time::kAnyLine, Standing::kDoubted}, Claim{Time::kCalls}};

}  // namespace

extern const Analyzer kSmallBatch{
    .id = "small-batch", .question = "Is the batch too small for the machine?", .run = Run, .claims = kClaims};

}  // namespace loopscope
