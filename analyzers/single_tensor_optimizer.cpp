#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzers/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinOpsPerTensor = 3;
constexpr double kMinSharePct = 3;  // of the step's work

bool IsAccumulateNode(std::string_view name) {
  return ops::IsBackwardNode(name) && name.ends_with("AccumulateGrad");
}

struct OptimizerCall {
  EventRef range;
  std::int64_t begin_ns = 0;  // after the last backward pass inside: a closure's work is no optimizer work
  std::uint64_t ops = 0;
  std::uint64_t tensors = 0;  // that the backward pass before it made gradients of; 0 when none was seen

  std::int64_t length_ns(const Timeline& timeline) const { return timeline.event(range).end_ns - begin_ns; }
};

// The calls of steady steps. Autograd accumulates once per parameter tensor and backward pass, which tells how many
// there are; a range's value counts numbers, not tensors.
class Calls {
 public:
  explicit Calls(const Timeline& timeline)
      : timeline_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        accumulations_(timeline.trace(), IsAccumulateNode) {
    timeline.ForEachSteady([&](EventRef ref) { Collect(ref); });
    std::sort(accumulated_ns_.begin(), accumulated_ns_.end());
    for (OptimizerCall& call : calls_) call.tensors = TensorsBefore(call.begin_ns);
  }

  const std::vector<OptimizerCall>& all() const { return calls_; }

 private:
  void Collect(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (accumulations_.Has(event)) accumulated_ns_.push_back(event.start_ns);
    if (ref.thread != timeline_.training_thread()) return;
    const bool backward = event.is_range(RangeCategory::kBackward);
    if (backward) passes_.push_back({event.start_ns, event.end_ns});
    if (event.is_range(RangeCategory::kOptimizer)) calls_.push_back({ref, event.start_ns, 0, 0});
    if (calls_.empty() || event.start_ns >= timeline_.event(calls_.back().range).end_ns) return;
    OptimizerCall& call = calls_.back();
    if (nodes_.Has(event) || backward) {
      call.begin_ns = std::max(call.begin_ns, event.end_ns);
      call.ops = 0;
    } else if (event.start_ns >= call.begin_ns && timeline_.outermost_op(ref)) {
      ++call.ops;
    }
  }

  std::uint64_t TensorsBefore(std::int64_t time_ns) const {
    const auto after = std::partition_point(passes_.begin(), passes_.end(),
                                            [&](const Interval& pass) { return pass.end_ns <= time_ns; });
    if (after == passes_.begin()) return 0;
    const Interval pass = *(after - 1);
    return static_cast<std::uint64_t>(std::lower_bound(accumulated_ns_.begin(), accumulated_ns_.end(), pass.end_ns) -
                                      std::lower_bound(accumulated_ns_.begin(), accumulated_ns_.end(), pass.start_ns));
  }

  const Timeline& timeline_;
  NameSet nodes_, accumulations_;
  std::vector<OptimizerCall> calls_;
  std::vector<std::int64_t> accumulated_ns_;
  std::vector<Interval> passes_;  // backward, by start
};

struct Optimizer {
  std::uint64_t calls = 0, ops = 0, tensors = 0;
  CallSites sites;

  double ops_per_tensor() const { return tensors == 0 ? 0 : static_cast<double>(ops) / static_cast<double>(tensors); }
};

// Calls by the optimizer's name and size: two optimizers are judged apart.
std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> ByOptimizer(const Timeline& timeline) {
  std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> optimizers;
  const Calls calls(timeline);
  for (const OptimizerCall& call : calls.all()) {
    Optimizer& one = optimizers[{timeline.name(call.range), timeline.event(call.range).value}];
    ++one.calls;
    one.ops += call.ops;
    one.tensors += call.tensors;
    one.sites.Add(timeline.where(call.range), Ms(call.length_ns(timeline)));
  }
  return optimizers;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const auto optimizers = ByOptimizer(timeline);
  if (optimizers.empty()) return {Finding::NotApplicable("no optimizer step was seen in the timed steps")};
  double cost_ms = 0, unknown_ms = 0;
  std::string names;
  std::vector<Evidence> evidence;
  for (const auto& [key, one] : optimizers) {
    const double ms = PerStep(timeline, one.sites.ms());
    if (one.tensors == 0) unknown_ms += ms;
    if (one.ops_per_tensor() < kMinOpsPerTensor) continue;
    cost_ms += ms;
    names += (names.empty() ? "" : " and ") + std::string(key.first);
    evidence.push_back({fmt::format("{}: {} operators per call for {}, {} per step", key.first, one.ops / one.calls,
                                    Counted(one.tensors / one.calls, "parameter tensor"), MsText(ms)),
                        one.calls, one.sites.Ordered().front().where});
  }
  Finding finding =
      Costing(timeline, cost_ms, fmt::format("{} updates one tensor at a time: {} per step", names, MsText(cost_ms)));
  if (SharePct(timeline, cost_ms) >= kMinSharePct) {
    finding.evidence = std::move(evidence);
    return {finding};
  }
  if (SharePct(timeline, unknown_ms) >= kMinSharePct) {
    return {Finding::CannotTell(
        "how many tensors the optimizer updates is not known: no gradient accumulation was seen before it")};
  }
  return {};
}

}  // namespace

extern const Analyzer kSingleTensorOptimizer;
const Analyzer kSingleTensorOptimizer{
    .id = "single-tensor-optimizer", .question = "Does the optimizer update one tensor at a time?", .run = Run};

}  // namespace loopscope
