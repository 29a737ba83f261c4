#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzers/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinOpsPerParameter = 3;
constexpr double kMinSharePct = 3;  // of the mean step

struct OptimizerCall {
  EventRef range;
  std::int64_t begin_ns = 0;  // after the last backward pass inside: a closure's work is no optimizer work
  std::uint64_t ops = 0;

  std::int64_t length_ns(const Timeline& timeline) const { return timeline.event(range).end_ns - begin_ns; }
};

// The calls of steady steps. Ops of a closure (forward and backward inside step()) are left out.
std::vector<OptimizerCall> Calls(const Timeline& timeline) {
  const NameSet nodes(timeline.trace(), ops::IsBackwardNode);
  std::vector<OptimizerCall> calls;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread()) return;
    if (event.is_range(RangeCategory::kOptimizer)) calls.push_back({ref, event.start_ns, 0});
    if (calls.empty() || event.start_ns >= timeline.event(calls.back().range).end_ns) return;
    if (nodes.Has(event) || event.is_range(RangeCategory::kBackward)) {
      calls.back().begin_ns = std::max(calls.back().begin_ns, event.end_ns);
      calls.back().ops = 0;
    } else if (event.start_ns >= calls.back().begin_ns && timeline.outermost_op(ref)) {
      ++calls.back().ops;
    }
  });
  return calls;
}

struct Optimizer {
  std::uint64_t calls = 0, ops = 0, parameters = 0;
  CallSites sites;

  double ops_per_parameter() const {
    return parameters == 0 ? 0 : static_cast<double>(ops) / static_cast<double>(parameters);
  }
};

// Calls by the optimizer's name and number of parameters: two optimizers are judged apart.
std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> ByOptimizer(const Timeline& timeline) {
  std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> optimizers;
  for (const OptimizerCall& call : Calls(timeline)) {
    const Event& range = timeline.event(call.range);
    Optimizer& one = optimizers[{timeline.name(call.range), range.value}];
    ++one.calls;
    one.ops += call.ops;
    one.parameters += range.value;
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
    if (one.parameters == 0) unknown_ms += ms;
    if (one.ops_per_parameter() < kMinOpsPerParameter) continue;
    cost_ms += ms;
    names += (names.empty() ? "" : " and ") + std::string(key.first);
    evidence.push_back({fmt::format("{}: {} operators per call for {}, {} per step", key.first, one.ops / one.calls,
                                    Counted(key.second, "parameter"), MsText(ms)),
                        one.calls, one.sites.Ordered().front().where});
  }
  Finding finding =
      Costing(timeline, cost_ms, fmt::format("{} updates one tensor at a time: {} per step", names, MsText(cost_ms)));
  if (finding.cost_pct >= kMinSharePct) {
    finding.evidence = std::move(evidence);
    return {finding};
  }
  if (100 * unknown_ms >= kMinSharePct * timeline.mean_step_ms()) {
    return {Finding::CannotTell("the number of parameters that the optimizer updates is not known")};
  }
  return {};
}

}  // namespace

extern const Analyzer kSingleTensorOptimizer;
const Analyzer kSingleTensorOptimizer{
    .id = "single-tensor-optimizer", .question = "Does the optimizer update one tensor at a time?", .run = Run};

}  // namespace loopscope
