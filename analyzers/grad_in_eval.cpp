#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinGraphShare = 0.5;  // of an evaluation's layers: one trainable head is not a missing no_grad
constexpr double kMediumPct = 5;        // of an epoch's time in such forward passes

struct Evaluations {
  std::set<int> steps;  // in which an evaluation ran
  std::uint64_t layers = 0;
  CallSites with_graph;  // layers that recorded a graph node
  // Time of outermost ops that did, by step: where details were recorded they take longer.
  std::map<int, std::int64_t> graph_ns;

  double graph_ms(const Timeline& timeline) const {  // of an evaluation
    double ms = 0, count = 0, all_ms = 0;
    for (const auto& [step, ns] : graph_ns) {
      all_ms += Ms(ns);
      if (step >= 0 && timeline.steps()[static_cast<std::size_t>(step)].disturbed()) continue;
      ms += Ms(ns);
      ++count;
    }
    return count > 0 ? ms / count : DetailRatio(timeline) * all_ms / static_cast<double>(steps.size());
  }
};

struct Layer {
  EventRef outermost;
  bool graph = false;
};

// The layers of one stretch, by their outermost op. Under autocast a layer copies its weights first, and those copies
// record a node even under no_grad, so the op inside decides.
std::vector<Layer> LayersIn(const Timeline& timeline, Interval stretch, const NameSet& compute) {
  std::vector<Layer> layers;
  timeline.ForEach(timeline.training_thread(), stretch, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (!compute.Has(event)) return;
    const bool graph = event.flags & wire::kOpGraph;
    const EventRef outer = Ancestor(timeline, ref, [&](const Event& up) { return compute.Has(up); });
    if (!Exists(outer)) {
      layers.push_back({ref, graph});
    } else if (!layers.empty() && outer.index == layers.back().outermost.index &&
               (timeline.event(outer).flags & wire::kOpAutocast)) {
      layers.back().graph = graph;
    }
  });
  return layers;
}

// Adds one stretch, unless a backward pass runs in it: that needs its graph.
void Add(const Timeline& timeline, Interval stretch, const NameSet& compute, const NameSet& nodes, Evaluations& seen) {
  bool backward = false;
  std::int64_t graph_ns = 0;
  timeline.ForEach(timeline.training_thread(), stretch, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    backward |= nodes.Has(event) || event.is_range(RangeCategory::kBackward);
    if ((event.flags & wire::kOpGraph) && timeline.outermost_op(ref)) graph_ns += event.duration_ns();
  });
  const std::vector<Layer> layers = LayersIn(timeline, stretch, compute);
  if (backward || layers.empty()) return;
  seen.steps.insert(timeline.step_at(stretch.start_ns));
  seen.layers += layers.size();
  seen.graph_ns[timeline.step_at(stretch.start_ns)] += graph_ns;
  for (const Layer& layer : layers) {
    if (layer.graph) {
      seen.with_graph.Add(timeline.where(layer.outermost), Ms(timeline.event(layer.outermost).duration_ns()),
                          ModuleOf(timeline, layer.outermost));
    }
  }
}

Evaluations Collect(const Timeline& timeline) {
  const NameSet compute(timeline.trace(), ops::IsProduct), nodes(timeline.trace(), ops::IsBackwardNode);
  const auto first = std::ranges::find_if(timeline.steps(), [](const Step& step) { return !step.warmup; });
  const std::int64_t from = first->time.start_ns;
  // A scoring after the training says what an evaluation takes only where nothing else does.
  const std::int64_t until = timeline.steps().back().time.end_ns;
  Evaluations seen;
  for (const Interval& stretch : timeline.evaluation().intervals()) {
    if (stretch.start_ns >= until && !seen.steps.empty()) break;
    if (stretch.start_ns >= from) Add(timeline, stretch, compute, nodes, seen);
  }
  return seen;
}

double StepsPerEvaluation(const Timeline& timeline, const Evaluations& seen) {
  if (timeline.steps_per_epoch() > 0) return static_cast<double>(timeline.steps_per_epoch());
  const auto timed = std::ranges::count_if(timeline.steps(), [](const Step& step) { return !step.warmup; });
  return std::max(1.0, static_cast<double>(timed) / static_cast<double>(seen.steps.size()));
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.evaluation_seen()) return {Finding::CannotTell("not in the window: no evaluation was seen")};
  const Evaluations seen = Collect(timeline);
  if (seen.layers == 0) return {Finding::CannotTell("the evaluation held no layer whose graph could be looked for")};
  const std::uint64_t with_graph = seen.with_graph.count();
  if (with_graph == 0 || static_cast<double>(with_graph) < kMinGraphShare * static_cast<double>(seen.layers)) return {};
  const double ms = seen.graph_ms(timeline);
  Finding finding = CostingOutside(
      timeline, ms / StepsPerEvaluation(timeline, seen),
      fmt::format("evaluation records a graph that nothing uses: its forward passes take {} each time", MsText(ms)));
  // The forward pass stays; only its recording goes. So the whole of it is an upper bound, not a measure of severity.
  finding.severity = finding.cost_pct >= kMediumPct ? Severity::kMedium : Severity::kLow;
  finding.evidence = seen.with_graph.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} recorded a graph node although no backward pass followed",
                       Counted(site.count, "layer call"));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kEvaluation}};

}  // namespace

extern const Analyzer kGradInEval{.id = "grad-in-eval",
                                  .question = "Does evaluation record a graph that nothing uses?",
                                  .run = Run,
                                  .claims = kClaims,
                                  .usual_share = 0.2};

}  // namespace loopscope
