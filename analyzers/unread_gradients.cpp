#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/gradients/unread_nodes.h"
#include "analyzers/shared/devices.h"
#include "analyzers/shared/events.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;       // of the step's work
constexpr double kMinUnreadShare = 0.1;  // of the numbers that a backward pass adds to gradients

constexpr double kNearlyAll = 0.95;   // of what all optimizers have, in the gradients of a step
constexpr double kMostBeyond = 1.05;  // of what all optimizers had at first: with more, the reader is unknown

struct Pass {
  EventRef range;
  std::int64_t numbers = 0;  // added to gradients of parameters that some optimizer has
  std::int64_t beyond = 0;   // of weights that none has
};

// Identified by its name and the count of numbers in its parameters.
using Optimizer = std::pair<StringId, std::uint64_t>;

// An optimizer's step.
struct Reader {
  std::int64_t start_ns;
  Optimizer optimizer;
};

bool AddsToGradient(std::string_view name) {
  return name == "torch::autograd::AccumulateGrad";
}

// Shapes of the tensors that optimizers update. Gradients are also added to other tensors: to the activations at which
// a recomputed part of the model begins, or to an image that is optimized itself.
std::map<Optimizer, Shapes> ParameterShapes(const Timeline& timeline) {
  std::map<Optimizer, Shapes> shapes;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp) return;
    const EventRef step =
        Ancestor(timeline, ref, [](const Event& up) { return up.is_range(RangeCategory::kOptimizer); });
    if (!Exists(step)) return;
    Shapes& own = shapes[{timeline.event(step).name, timeline.event(step).value}];
    for (const TensorText& tensor : TensorsOf(timeline.inputs(ref))) own.insert(tensor.sizes);
  });
  return shapes;
}

// Layers' weights that no optimizer updates, and where they are used: of a teacher, or of a frozen part. Empty if an
// optimizer exists that did not step in the steps examined: it may have them.
struct Strangers {
  Shapes shapes;
  CallSites sites;
};

bool HasWeights(std::string_view name) {
  constexpr std::string_view kLayers[] = {"aten::linear", "aten::embedding", "aten::batch_norm", "aten::layer_norm",
                                          "aten::group_norm"};
  return name.starts_with("aten::conv") || std::ranges::find(kLayers, name) != std::end(kLayers);
}

std::set<Optimizer> OptimizersOf(const std::vector<Reader>& readers) {
  std::set<Optimizer> optimizers;
  for (const Reader& reader : readers) optimizers.insert(reader.optimizer);
  return optimizers;
}

bool AllOptimizersStep(const Timeline& timeline, const std::vector<Reader>& readers) {
  const auto made = std::ranges::count_if(timeline.trace().facts, [](const auto& fact) {
    return fact.first.starts_with("optimizer") && fact.first.ends_with(".class");
  });
  return made > 0 && made <= std::ssize(OptimizersOf(readers));
}

Strangers StrangersOf(const Timeline& timeline, const Shapes& parameters, const std::vector<Reader>& readers) {
  Strangers found;
  if (!AllOptimizersStep(timeline, readers)) return found;
  const NameSet layers(timeline.trace(), HasWeights);
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !layers.Has(event)) return;
    if (timeline.inside(ref, RangeCategory::kBackward) || timeline.inside(ref, RangeCategory::kOptimizer)) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    const std::size_t first = timeline.trace().text(event.name) == "aten::embedding" ? 0 : 1;
    bool any = false;
    for (std::size_t i = first; i < inputs.size(); ++i) {
      if (!inputs[i].is_tensor || !inputs[i].requires_grad || parameters.contains(inputs[i].sizes)) continue;
      found.shapes.insert(inputs[i].sizes);
      any = true;
    }
    if (any) found.sites.Add(timeline.where(ref), Ms(event.duration_ns()));
  });
  return found;
}

// Outermost backward passes of the detailed steps, whose shapes are known, by time.
std::vector<Pass> PassesOf(const Timeline& timeline, const Shapes& parameters, const Shapes& strangers) {
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
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (!adds.Has(event)) return;
    const auto after = std::ranges::upper_bound(passes, event.start_ns, {}, start);
    if (after == passes.begin()) return;
    Pass& pass = *std::prev(after);
    if (event.start_ns > timeline.event(pass.range).end_ns) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (inputs.empty()) return;
    if (parameters.contains(inputs[0].sizes)) pass.numbers += inputs[0].elements();
    if (strangers.contains(inputs[0].sizes)) pass.beyond += inputs[0].elements();
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

// The optimizers which step after the pass, up to the next pass after one of them.
std::set<Optimizer> ReadersAfter(const Timeline& timeline, const Pass& pass, const std::vector<Pass>& passes,
                                 const std::vector<Reader>& readers) {
  const std::int64_t end_ns = timeline.event(pass.range).end_ns;
  const auto first = std::ranges::lower_bound(readers, end_ns, {}, &Reader::start_ns);
  if (first == readers.end()) return {};
  std::int64_t until_ns = INT64_MAX;
  for (const Pass& other : passes) {
    const std::int64_t start_ns = timeline.event(other.range).start_ns;
    if (start_ns > first->start_ns) until_ns = std::min(until_ns, start_ns);
  }
  std::set<Optimizer> found;
  for (auto one = first; one != readers.end() && one->start_ns < until_ns; ++one) found.insert(one->optimizer);
  return found;
}

// Numbers that they read; -1 unknown.
std::int64_t NumbersOf(const std::set<Optimizer>& readers) {
  std::int64_t numbers = 0;
  for (const Optimizer& one : readers) {
    if (one.second == 0) return -1;
    numbers += static_cast<std::int64_t>(one.second);
  }
  return readers.empty() ? -1 : numbers;
}

// Guards against truncated lists of an optimizer's tensors, whose rest would look unread.
bool SeesAllParameters(const Timeline& timeline, const std::vector<Pass>& passes, double known) {
  double numbers = 0;
  for (const Pass& pass : passes) numbers += static_cast<double>(pass.numbers);
  return numbers >= kNearlyAll * known * timeline.detail_steps();
}

struct Unread {
  CallSites sites;
  double numbers = 0, all = 0;  // in all passes looked at
  double nodes_ms = 0;          // in nodes whose results are never read, likewise
};

Unread Measure(const Timeline& timeline, const std::vector<Pass>& passes, const std::vector<Reader>& readers,
               const std::map<Optimizer, Shapes>& parameters) {
  Unread unread;
  for (const Pass& pass : passes) {
    const bool any = pass.numbers + pass.beyond > 0;
    const std::set<Optimizer> after = any ? ReadersAfter(timeline, pass, passes, readers) : std::set<Optimizer>{};
    const std::int64_t read = NumbersOf(after);
    if (read < 0) continue;
    const auto all = static_cast<double>(pass.numbers + pass.beyond);
    const auto left = static_cast<double>(std::max<std::int64_t>(0, pass.numbers - read) + pass.beyond);
    unread.all += all;
    if (left < kMinUnreadShare * all) continue;
    unread.numbers += left;
    Shapes known;
    for (const auto& [optimizer, shapes] : parameters) {
      if (after.contains(optimizer)) known.insert(shapes.begin(), shapes.end());
    }
    unread.nodes_ms += UnreadMs(timeline, pass.range, known);
    unread.sites.Add(timeline.where(pass.range), Ms(timeline.event(pass.range).duration_ns()) * left / all);
  }
  return unread;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so which gradients are made is not known")};
  }
  const std::map<Optimizer, Shapes> by_optimizer = ParameterShapes(timeline);
  Shapes parameters;
  for (const auto& [optimizer, shapes] : by_optimizer) parameters.insert(shapes.begin(), shapes.end());
  const std::vector<Reader> readers = ReadersOf(timeline);
  const Strangers strangers = StrangersOf(timeline, parameters, readers);
  std::vector<Pass> passes = PassesOf(timeline, parameters, strangers.shapes);
  if (std::ranges::all_of(passes, [](const Pass& pass) { return pass.numbers == 0; })) {
    return {Finding::CannotTell("no backward pass that adds to gradients of an optimizer's parameters was seen")};
  }
  double known = 0;
  for (const auto& [name, numbers] : OptimizersOf(readers)) known += static_cast<double>(numbers);
  for (const Pass& pass : passes) {
    if (known == 0 || static_cast<double>(pass.numbers) <= kMostBeyond * known) continue;
    return {
        Finding::NotApplicable("gradients are made for more numbers than the optimizers said they have: they may "
                               "count otherwise, or have been given more since")};
  }
  if (!SeesAllParameters(timeline, passes, known)) {
    for (Pass& pass : passes) pass.beyond = 0;
  }
  const Unread unread = Measure(timeline, passes, readers, by_optimizer);
  if (unread.all == 0) return {Finding::CannotTell("no optimizer's step with a known number of parameters was seen")};
  const double ms = MsPerDetailStep(timeline, unread.sites.ms(), Part::kBackward);
  if (unread.sites.empty() || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("{:.0f} % of the gradients that backward passes make are read by no optimizer",
                                100 * unread.numbers / unread.all),
                    Severity::kMedium);
  const double nodes_ms = MsPerDetailStep(timeline, unread.nodes_ms, Part::kBackward);
  if (!OnDevice(timeline) && nodes_ms > 0) finding.expected_gain_ms = std::min(nodes_ms, ms);
  finding.evidence = unread.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format(
        "a backward pass makes gradients that the optimizers which step after it do not have: {} at most",
        MsText(MsPerDetailStep(timeline, site.ms, Part::kBackward)));
  });
  if (std::ranges::any_of(passes, [](const Pass& pass) { return pass.beyond > 0; })) {
    std::vector<Evidence> used = strangers.sites.Describe(
        [](const CallSites::Site&) { return "uses weights that no optimizer has, and that ask for gradients"; });
    finding.evidence.insert(finding.evidence.begin(), used.begin(), used.end());
  }
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kUnreadGradients{.id = "unread-gradients",
                                       .question = "Are gradients computed that no optimizer reads?",
                                       .run = Run,
                                       .needs = kNeedsOps};

}  // namespace loopscope
