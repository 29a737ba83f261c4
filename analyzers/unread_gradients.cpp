#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/tensors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;       // of the step's work
constexpr double kMinUnreadShare = 0.1;  // of the numbers that a backward pass adds to gradients

constexpr double kMostBeyond = 1.05;  // of what all optimizers have: more means that it is not known

struct Pass {
  EventRef range;
  std::int64_t numbers = 0;  // added to gradients of parameters
};

// An optimizer's step, told from others by its name and the numbers in its parameters.
struct Reader {
  std::int64_t start_ns;
  std::pair<StringId, std::uint64_t> optimizer;
};

bool AddsToGradient(std::string_view name) {
  return name == "torch::autograd::AccumulateGrad";
}

using Shapes = std::set<std::vector<std::int64_t>>;

// Of the tensors that optimizers work on. Gradients are added to other tensors as well: to the activations at which a
// recomputed part of the model begins, to an image that is changed itself.
Shapes ParameterShapes(const Timeline& timeline) {
  Shapes shapes;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp || !timeline.inside(ref, RangeCategory::kOptimizer)) return;
    for (const TensorText& tensor : TensorsOf(timeline.inputs(ref))) shapes.insert(tensor.sizes);
  });
  return shapes;
}

// Outermost backward passes of the detailed steps, whose shapes are known, by time.
std::vector<Pass> PassesOf(const Timeline& timeline) {
  std::vector<Pass> passes;
  timeline.ForEachDetailed([&](EventRef ref) {
    const bool counts = ref.thread == timeline.training_thread() &&
                        timeline.event(ref).is_range(RangeCategory::kBackward) &&
                        !timeline.inside(ref, RangeCategory::kBackward);
    if (counts) passes.push_back({ref});
  });
  const auto start = [&](const Pass& pass) { return timeline.event(pass.range).start_ns; };
  std::ranges::sort(passes, {}, start);
  const NameSet adds(timeline.trace(), AddsToGradient);
  const Shapes parameters = ParameterShapes(timeline);
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (!adds.Has(event)) return;
    const auto after = std::ranges::upper_bound(passes, event.start_ns, {}, start);
    if (after == passes.begin()) return;
    Pass& pass = *std::prev(after);
    if (event.start_ns > timeline.event(pass.range).end_ns) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (!inputs.empty() && parameters.contains(inputs[0].sizes)) pass.numbers += inputs[0].elements();
  });
  return passes;
}

std::vector<Reader> ReadersOf(const Timeline& timeline) {
  std::vector<Reader> readers;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !event.is_range(RangeCategory::kOptimizer)) return;
    if (!timeline.inside(ref, RangeCategory::kOptimizer))
      readers.push_back({event.start_ns, {event.name, event.value}});
  });
  std::ranges::sort(readers, {}, &Reader::start_ns);
  return readers;
}

// Numbers that the optimizers read which step after the pass, up to the next pass after one of them; -1 unknown.
std::int64_t ReadAfter(const Timeline& timeline, const Pass& pass, const std::vector<Pass>& passes,
                       const std::vector<Reader>& readers) {
  const std::int64_t end_ns = timeline.event(pass.range).end_ns;
  const auto first = std::ranges::lower_bound(readers, end_ns, {}, &Reader::start_ns);
  if (first == readers.end()) return -1;
  std::int64_t until_ns = INT64_MAX;
  for (const Pass& other : passes) {
    const std::int64_t start_ns = timeline.event(other.range).start_ns;
    if (start_ns > first->start_ns) until_ns = std::min(until_ns, start_ns);
  }
  std::set<std::pair<StringId, std::uint64_t>> counted;
  std::int64_t numbers = 0;
  for (auto one = first; one != readers.end() && one->start_ns < until_ns; ++one) {
    if (one->optimizer.second == 0) return -1;
    if (counted.insert(one->optimizer).second) numbers += static_cast<std::int64_t>(one->optimizer.second);
  }
  return numbers;
}

struct Unread {
  CallSites sites;
  double numbers = 0, all = 0;  // in all passes looked at
};

Unread Measure(const Timeline& timeline, const std::vector<Pass>& passes, const std::vector<Reader>& readers) {
  Unread unread;
  for (const Pass& pass : passes) {
    const std::int64_t read = pass.numbers > 0 ? ReadAfter(timeline, pass, passes, readers) : -1;
    if (read < 0) continue;
    const auto all = static_cast<double>(pass.numbers);
    const double left = std::max(0.0, all - static_cast<double>(read));
    unread.all += all;
    if (left < kMinUnreadShare * all) continue;
    unread.numbers += left;
    unread.sites.Add(timeline.where(pass.range), Ms(timeline.event(pass.range).duration_ns()) * left / all);
  }
  return unread;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so which gradients are made is not known")};
  }
  const std::vector<Pass> passes = PassesOf(timeline);
  if (std::ranges::all_of(passes, [](const Pass& pass) { return pass.numbers == 0; })) {
    return {Finding::CannotTell("no backward pass that adds to gradients of an optimizer's parameters was seen")};
  }
  const std::vector<Reader> readers = ReadersOf(timeline);
  std::set<std::pair<StringId, std::uint64_t>> optimizers;
  for (const Reader& reader : readers) optimizers.insert(reader.optimizer);
  double known = 0;
  for (const auto& [name, numbers] : optimizers) known += static_cast<double>(numbers);
  for (const Pass& pass : passes) {
    if (known == 0 || static_cast<double>(pass.numbers) <= kMostBeyond * known) continue;
    return {Finding::NotApplicable("the optimizers do not say how many numbers they have")};
  }
  const Unread unread = Measure(timeline, passes, readers);
  if (unread.all == 0) return {Finding::CannotTell("no optimizer's step with a known number of parameters was seen")};
  const double ms = MsPerDetailStep(timeline, unread.sites.ms(), Part::kBackward);
  if (unread.sites.empty() || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("{:.0f} % of the gradients that backward passes make are read by no optimizer",
                                100 * unread.numbers / unread.all),
                    Severity::kMedium);
  finding.evidence = unread.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format(
        "a backward pass makes gradients that the optimizers which step after it do not have: {} at most",
        MsText(MsPerDetailStep(timeline, site.ms, Part::kBackward)));
  });
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kUnreadGradients{.id = "unread-gradients",
                                       .question = "Are gradients computed that no optimizer reads?",
                                       .run = Run,
                                       .needs = kNeedsOps};

}  // namespace loopscope
