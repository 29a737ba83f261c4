#include "analyzers/shared/activations.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/shared/devices.h"
#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

bool IsRelu(std::string_view name) {
  return name == "aten::relu" || name == "aten::clamp_min";
}

// Their first input is a bias, or a table of weights.
bool KeepsSecondInput(std::string_view name) {
  return name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::embedding";
}

class Estimate {
 public:
  explicit Estimate(const Timeline& timeline)
      : timeline_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        views_(timeline.trace(), ops::IsView),
        relus_(timeline.trace(), IsRelu),
        second_(timeline.trace(), KeepsSecondInput) {}

  Activations Take() {
    Activations found;
    found.known = timeline_.detail_steps() > 0;
    std::vector<EventRef> kept;
    std::set<std::pair<std::uint32_t, std::uint32_t>> outer;
    std::uint64_t passes = 0;
    timeline_.ForEachDetailed([&](EventRef ref) {
      passes += timeline_.event(ref).is_range(RangeCategory::kBackward) ? 1 : 0;
      if (!Records(timeline_.event(ref)) || timeline_.inside(ref, RangeCategory::kBackward)) return;
      const EventRef above = Ancestor(timeline_, ref, [&](const Event& up) { return Records(up); });
      if (Exists(above)) outer.insert({above.thread, above.index});
      kept.push_back(ref);
    });
    for (const EventRef ref : kept) {
      if (!outer.contains({ref.thread, ref.index})) Add(ref, found);
    }
    const auto count = static_cast<double>(std::max<std::uint64_t>(1, passes));
    found.bytes /= count;
    found.relu_bytes /= count;
    return found;
  }

 private:
  bool Records(const Event& event) const {
    return event.kind == EventKind::kOp && (event.flags & wire::kOpGraph) != 0 && !nodes_.Has(event) &&
           !views_.Has(event);
  }

  void Add(EventRef ref, Activations& found) const {
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    const std::size_t at = second_.Has(timeline_.event(ref)) ? 1 : 0;
    if (inputs.size() <= at || !inputs[at].is_tensor) return;
    const auto bytes = static_cast<double>(inputs[at].bytes());
    found.bytes += bytes;
    if (!relus_.Has(timeline_.event(ref))) return;
    found.relu_bytes += bytes;
    found.relus.Add(timeline_.where(ref), bytes, ModuleOf(timeline_, ref));
  }

  const Timeline& timeline_;
  NameSet nodes_, views_, relus_, second_;
};

}  // namespace

Activations EstimateActivations(const Timeline& timeline) {
  return Estimate(timeline).Take();
}

namespace {

// Recomputing happens inside few nodes, one per block; with create_graph nearly all nodes record a graph.
constexpr double kMostNodes = 0.25;

class Finder {
 public:
  explicit Finder(const Timeline& timeline)
      : timeline_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        products_(timeline.trace(), ops::IsProduct) {
    std::vector<Interval> passes;
    timeline.ForEachSteady([&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (event.is_range(RangeCategory::kBackward)) passes.push_back({event.start_ns, event.end_ns});
    });
    backward_ = IntervalSet(std::move(passes));
  }

  Recompute Find() {
    const OpCost cost(timeline_);
    Recompute found;
    std::uint64_t nodes = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> recording;
    timeline_.ForEachSteady([&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      const bool is_node = nodes_.Has(event);
      if ((!is_node && !RecordsGraph(event)) || !InBackwardPass(event)) return;
      nodes += is_node ? 1 : 0;
      const EventRef node = NodeThatRuns(ref);
      if (!Exists(node)) return;
      recording.insert({node.thread, node.index});
      found.ms += cost.Ms(ref);
      ++found.ops;
      names_.insert(event.name);
    });
    found.ms = MsPerStep(timeline_, found.ms, Part::kBackward);
    found.graph_of_backward = static_cast<double>(recording.size()) > kMostNodes * static_cast<double>(nodes);
    if (found.ops > 0) Locate(found);
    return found;
  }

 private:
  // Nodes also run where gradients are taken for a penalty, with a graph of their own (`autograd.grad`): outside of the
  // passes, where passes are known.
  bool InBackwardPass(const Event& event) const {
    return backward_.intervals().empty() || backward_.total_ns({event.start_ns, event.end_ns}) > 0;
  }

  bool RecordsGraph(const Event& event) const {
    return event.kind == EventKind::kOp && (event.flags & wire::kOpGraph) != 0 && !nodes_.Has(event);
  }

  // The backward node in which `ref` runs as the outermost operator that records a graph; none for others.
  EventRef NodeThatRuns(EventRef ref) const {
    if (!RecordsGraph(timeline_.event(ref))) return {kNone, kNone};
    const EventRef above =
        Ancestor(timeline_, ref, [&](const Event& up) { return nodes_.Has(up) || RecordsGraph(up); });
    return Exists(above) && nodes_.Has(timeline_.event(above)) ? above : EventRef{kNone, kNone};
  }

  // The same operators outside of backward; prefer those that record no graph, as a checkpointed block does. They are
  // matched by shape, which may differ from step to step, so both sides come from the detailed steps. If nothing runs
  // again there, match by name.
  void Locate(Recompute& found) const {
    std::set<std::pair<StringId, std::uint32_t>> again;
    timeline_.ForEachDetailed([&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      if (event.shape_hash != 0 && Exists(NodeThatRuns(ref))) again.insert({event.name, event.shape_hash});
    });
    CallSites keeping;
    timeline_.ForEachDetailed([&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      const bool runs_again =
          again.empty() ? names_.contains(event.name) : again.contains({event.name, event.shape_hash});
      if (!runs_again || !products_.Has(event) || !timeline_.outermost_op(ref)) return;
      if (timeline_.inside(ref, RangeCategory::kBackward)) return;
      const bool keeps = (event.flags & wire::kOpGraph) != 0;
      (keeps ? keeping : found.forward).Add(timeline_.where(ref), 0, ModuleOf(timeline_, ref));
    });
    if (found.forward.empty()) found.forward = std::move(keeping);
  }

  const Timeline& timeline_;
  NameSet nodes_, products_;
  IntervalSet backward_;      // calls of backward
  std::set<StringId> names_;  // of what runs again
};

}  // namespace

Recompute FindRecompute(const Timeline& timeline) {
  return Finder(timeline).Find();
}

}  // namespace loopscope
