#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analyzers/gradients/optimizer_forms.h"
#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinOpsPerTensor = 3;
constexpr double kMinSharePct = 3;         // of the step's work
constexpr double kMostProducts = 1 / 3.0;  // of an update's time: above it the update is inherently per matrix

bool IsForeach(std::string_view name) {
  return name.starts_with("aten::_foreach_");
}

bool IsMultiTensor(std::string_view name) {
  return IsForeach(name) || name.starts_with("aten::_fused_");
}

// Works on a matrix as a whole: "aten::mm", "aten::linalg_eigh".
bool TakesAMatrix(std::string_view name) {
  return ops::IsMatmul(name) || name.starts_with("aten::linalg_");
}

struct OptimizerCall {
  EventRef range;
  std::int64_t begin_ns = 0;  // after the last backward pass inside: a closure's work is not the optimizer's
  std::uint64_t ops = 0;      // that take one tensor at a time
  std::uint64_t tensors = 0;  // that got a gradient since the call before; 0 when none was seen
  bool multi_tensor = false;  // an operator inside takes many tensors at once
  std::vector<EventRef> products = {};

  // A closure's backward pass lies before begin_ns.
  double cost_ms(const Timeline& timeline, const OpCost& cost) const {
    const Event& event = timeline.event(range);
    return cost.on_device() ? cost.Ms(range) : Ms(event.end_ns - begin_ns);
  }
  double products_ms(const OpCost& cost) const {
    double ms = 0;
    for (const EventRef ref : products) ms += cost.Ms(ref);
    return ms;
  }
};

// The calls in steady steps. Autograd accumulates once per parameter tensor and backward pass, which gives the number
// of tensors; a range's value counts numbers, not tensors.
class Calls {
 public:
  explicit Calls(const Timeline& timeline)
      : timeline_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        accumulations_(timeline.trace(), ops::IsAccumulateNode),
        adds_(timeline.trace(), ops::IsAccumulate),
        multi_tensor_(timeline.trace(), IsMultiTensor),
        foreach_(timeline.trace(), IsForeach),
        matrix_(timeline.trace(), TakesAMatrix) {
    timeline.ForEachSteady([&](EventRef ref) { Collect(ref); });
    std::ranges::sort(accumulated_, {}, &Accumulation::start_ns);
    std::int64_t from_ns = INT64_MIN;
    for (std::size_t i = 0; i < calls_.size();) {
      const std::uint64_t tensors = TensorsIn({from_ns, calls_[i].begin_ns});
      std::size_t end = i;
      do {
        from_ns = timeline.event(calls_[end].range).end_ns;
      } while (++end < calls_.size() && TensorsIn({from_ns, calls_[end].begin_ns}) == 0);
      Share(tensors, std::span(calls_).subspan(i, end - i));
      i = end;
    }
  }

  const std::vector<OptimizerCall>& all() const { return calls_; }

 private:
  // If several optimizers step after all backward passes, each updates only its own tensors.
  void Share(std::uint64_t tensors, std::span<OptimizerCall> calls) {
    std::uint64_t ops = 0;
    for (const OptimizerCall& call : calls) ops += call.ops;
    for (OptimizerCall& call : calls) {
      call.tensors = tensors;
      const StringId name = timeline_.event(call.range).name;
      const auto [known, added] = tensors_.try_emplace(name);
      if (added) known->second = TensorsOf(timeline_.trace(), timeline_.trace().text(name));
      if (const auto own = known->second) {
        call.tensors = std::min(tensors, *own);
      } else if (ops > 0 && (call.ops > 0 || !call.multi_tensor)) {
        call.tensors = tensors * call.ops / ops;
      }
    }
  }

  void Collect(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (accumulations_.Has(event)) accumulated_.push_back({ref, event.start_ns});
    if (adds_.Has(event) && !accumulated_.empty()) {
      const EventRef node = Ancestor(timeline_, ref, [&](const Event& up) { return accumulations_.Has(up); });
      Accumulation& last = accumulated_.back();
      last.again |= node.index == last.node.index && node.thread == last.node.thread;
    }
    if (ref.thread != timeline_.training_thread()) return;
    const bool backward = event.is_range(RangeCategory::kBackward);
    if (backward) passes_.push_back({event.start_ns, event.end_ns});
    if (event.is_range(RangeCategory::kOptimizer)) calls_.push_back({ref, event.start_ns});
    if (calls_.empty() || event.start_ns >= timeline_.event(calls_.back().range).end_ns) return;
    OptimizerCall& call = calls_.back();
    if (nodes_.Has(event) || backward) {
      call.begin_ns = std::max(call.begin_ns, event.end_ns);
      call.ops = 0;
      call.products.clear();
    } else if (event.start_ns >= call.begin_ns && TakesOneTensor(ref)) {
      ++call.ops;
      if (matrix_.Has(event)) call.products.push_back(ref);
    } else if (multi_tensor_.Has(event)) {
      call.multi_tensor = true;
    }
  }

  // An outermost operator, or one that a foreach operator calls for each of its tensors: on a CPU, and where tensors
  // differ in type or layout, that is all it does.
  bool TakesOneTensor(EventRef ref) const {
    if (timeline_.outermost_op(ref)) return !multi_tensor_.Has(timeline_.event(ref));
    const std::uint32_t up = timeline_.parent(ref);
    if (timeline_.event(ref).kind != EventKind::kOp || up == kNone) return false;
    const EventRef caller{ref.thread, up};
    return foreach_.Has(timeline_.event(caller)) && timeline_.outermost_op(caller);
  }

  // Distinct tensors that got a gradient inside `within`. A tensor's first gradient after zero_grad is stored, a
  // further one added to it. Where zero_grad keeps the gradients, all are added: there, passes over equally many
  // tensors are assumed to cover the same ones.
  std::uint64_t TensorsIn(const Interval& within) const {
    std::uint64_t fresh = 0;
    std::map<std::int64_t, std::uint64_t> by_pass;
    for (auto one = std::ranges::lower_bound(accumulated_, within.start_ns, {}, &Accumulation::start_ns);
         one != accumulated_.end() && one->start_ns < within.end_ns; ++one) {
      fresh += one->again ? 0 : 1;
      const auto pass =
          std::ranges::partition_point(passes_, [&](const Interval& before) { return before.end_ns <= one->start_ns; });
      ++by_pass[pass == passes_.end() ? INT64_MAX : pass->start_ns];
    }
    std::set<std::uint64_t> sizes;
    for (const auto& [pass, size] : by_pass) sizes.insert(size);
    if (fresh > 0) return std::max(fresh, *sizes.rbegin());
    return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  }

  struct Accumulation {
    EventRef node;
    std::int64_t start_ns = 0;
    bool again = false;  // added to an existing gradient
  };

  const Timeline& timeline_;
  NameSet nodes_, accumulations_, adds_, multi_tensor_, foreach_, matrix_;
  std::vector<OptimizerCall> calls_;
  std::map<StringId, std::optional<std::uint64_t>> tensors_;  // of each class
  std::vector<Accumulation> accumulated_;
  std::vector<Interval> passes_;  // backward, by start
};

struct Optimizer {
  std::uint64_t calls = 0, ops = 0, tensors = 0;
  bool multi_tensor = false;  // some operator takes many tensors at once
  bool declared = false;      // the program's settings say that all do
  double products_ms = 0;
  CallSites sites;

  double ops_per_tensor() const { return tensors == 0 ? 0 : static_cast<double>(ops) / static_cast<double>(tensors); }
};

// Calls by the optimizer's name and size: two optimizers are judged separately.
std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> ByOptimizer(const Timeline& timeline) {
  std::map<std::pair<std::string_view, std::uint32_t>, Optimizer> optimizers;
  const Calls calls(timeline);
  const OpCost cost(timeline);
  for (const OptimizerCall& call : calls.all()) {
    Optimizer& one = optimizers[{timeline.name(call.range), timeline.event(call.range).value}];
    ++one.calls;
    one.ops += call.ops;
    one.tensors += call.tensors;
    one.multi_tensor |= call.multi_tensor;
    one.declared = SaysMultiTensor(timeline, timeline.name(call.range));
    one.products_ms += call.products_ms(cost);
    one.sites.Add(timeline.where(call.range), call.cost_ms(timeline, cost));
  }
  return optimizers;
}

// "Adam updates", "Adam and 2 SGD optimizers update", from each optimizer's name and how many have it.
std::string WhatUpdates(const std::map<std::string_view, int>& names) {
  std::vector<std::string> texts;
  int all = 0;
  for (const auto& [name, count] : names) {
    texts.push_back(count == 1 ? std::string(name) : fmt::format("{} {} optimizers", count, name));
    all += count;
  }
  return fmt::format("{} update{}", fmt::join(texts, " and "), all == 1 ? "s" : "");
}

std::vector<Finding> Run(const Timeline& timeline) {
  const auto optimizers = ByOptimizer(timeline);
  if (optimizers.empty()) return {Finding::NotApplicable("no optimizer step was seen in the timed steps")};
  double cost_ms = 0, unknown_ms = 0;
  std::map<std::string_view, int> names;
  std::vector<Evidence> evidence;
  for (const auto& [key, one] : optimizers) {
    if (one.declared || HasNoOtherForm(key.first)) continue;
    if (one.multi_tensor && one.tensors == 0) continue;
    if (one.products_ms > kMostProducts * one.sites.ms()) continue;
    const double ms = MsPerStep(timeline, one.sites.ms(), Part::kOptimizer);
    if (one.tensors == 0) unknown_ms += ms;
    if (one.ops_per_tensor() < kMinOpsPerTensor) continue;
    cost_ms += ms;
    ++names[key.first];
    evidence.push_back({fmt::format("{}: {} operators per call for {}, {} per step", key.first, one.ops / one.calls,
                                    Counted(one.tensors / one.calls, "parameter tensor"), MsText(ms)),
                        one.calls, one.sites.Ordered().front().where, ms});
  }
  Finding finding = CostingAtMost(
      timeline, cost_ms, fmt::format("{} one tensor at a time: {} per step", WhatUpdates(names), MsText(cost_ms)));
  if (SharePct(timeline, cost_ms) >= kMinSharePct) {
    std::ranges::stable_sort(evidence, std::greater(), &Evidence::ms);
    finding.evidence = std::move(evidence);
    finding.advice = AdviceFor(timeline, names);
    return {finding};
  }
  if (SharePct(timeline, unknown_ms) >= kMinSharePct) {
    return {Finding::CannotTell(
        "how many tensors the optimizer updates is not known: no gradient accumulation was seen before it")};
  }
  return {};
}

constexpr std::array kClaims = {Claim{Time::kAnyLine, Standing::kDoubted}, Claim{Time::kOptimizer, Standing::kRest}};

}  // namespace

extern const Analyzer kSingleTensorOptimizer{.id = "single-tensor-optimizer",
                                             .question = "Does the optimizer update one tensor at a time?",
                                             .run = Run,
                                             .needs = kNeedsOps | kNeedsCosts,
                                             .claims = kClaims,
                                             .usual_share = 0.6};

}  // namespace loopscope
