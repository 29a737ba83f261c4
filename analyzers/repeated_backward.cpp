#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the step's work
// Share of the tensors with a gradient: as many graph-free operators between two passes read or change gradients.
constexpr double kReadsGradients = 0.5;

constexpr std::uint8_t kBackwardFunction = 1;  // at::RecordScope::BACKWARD_FUNCTION

using NodeKey = std::tuple<std::uint16_t, std::uint32_t, StringId>;  // thread of the forward pass, sequence, name

struct Node {
  NodeKey key;
  double ms = 0;
};

// Numbers of nodes are recorded where the node itself runs, inside of what the engine does for it.
bool IsNode(const Event& event, bool named) {
  return event.kind == EventKind::kOp && event.sequence != kNone && (named || event.sub == kBackwardFunction);
}

// A backward pass that adds to the gradients of parameters: one by torch.autograd.grad() does not.
struct Pass {
  EventRef range;
  Interval time;
  std::uint64_t tensors = 0;  // that got a gradient
  std::vector<Node> nodes;
};

struct Repeated {
  CallSites sites;
  double all_ms = 0;                     // of all nodes of all passes
  std::uint64_t passes = 0, groups = 0;  // that go through nodes again, and what they belong to
};

class Passes {
 public:
  explicit Passes(const Timeline& timeline)
      : timeline_(timeline),
        cost_(timeline),
        nodes_(timeline.trace(), ops::IsBackwardNode),
        accumulations_(timeline.trace(), ops::IsAccumulateNode) {
    timeline.ForEachDetailed([&](EventRef ref) { AddRange(ref); });
    std::ranges::sort(passes_, {}, [](const Pass& pass) { return pass.time.start_ns; });
    std::ranges::sort(separators_);
    timeline.ForEachDetailed([&](EventRef ref) { AddNode(ref); });
    std::erase_if(passes_, [](const Pass& pass) { return pass.tensors == 0; });
  }

  bool on_device() const { return cost_.on_device(); }

  Repeated Measure() const {
    Repeated repeated;
    for (std::size_t first = 0; first < passes_.size();) {
      std::size_t end = first + 1;
      while (end < passes_.size() && AddOn(passes_[end - 1], passes_[end])) ++end;
      MeasureGroup(std::span(passes_).subspan(first, end - first), repeated);
      first = end;
    }
    return repeated;
  }

 private:
  void AddRange(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (ref.thread != timeline_.training_thread()) return;
    if (event.is_range(RangeCategory::kOptimizer) || event.is_range(RangeCategory::kZeroGrad)) {
      separators_.push_back(event.start_ns);
    } else if (event.is_range(RangeCategory::kBackward) && !timeline_.inside(ref, RangeCategory::kBackward)) {
      passes_.push_back({ref, {event.start_ns, event.end_ns}, 0, {}});
    }
  }

  void AddNode(EventRef ref) {
    const Event& event = timeline_.event(ref);
    const bool node = IsNode(event, nodes_.Has(event));
    if (!node && !accumulations_.Has(event)) return;
    const auto after =
        std::ranges::upper_bound(passes_, event.start_ns, {}, [](const Pass& pass) { return pass.time.start_ns; });
    if (after == passes_.begin() || event.start_ns >= std::prev(after)->time.end_ns) return;
    Pass& pass = *std::prev(after);
    if (accumulations_.Has(event)) {
      ++pass.tensors;
    } else {
      pass.nodes.push_back({{event.forward_thread, event.sequence, event.name}, cost_.Ms(ref)});
    }
  }

  // The gradients are not used in between: not by the optimizer, by zeroing, or by code of the program.
  bool AddOn(const Pass& before, const Pass& pass) const {
    const auto next = std::ranges::lower_bound(separators_, before.time.end_ns);
    if (next != separators_.end() && *next < pass.time.start_ns) return false;
    double without_graph = 0;
    timeline_.ForEach(timeline_.training_thread(), {before.time.end_ns, pass.time.start_ns}, [&](EventRef ref) {
      const bool graph = (timeline_.event(ref).flags & wire::kOpGraph) != 0;
      without_graph += timeline_.outermost_op(ref) && !graph ? 1 : 0;
    });
    return without_graph < kReadsGradients * static_cast<double>(pass.tensors);
  }

  void MeasureGroup(std::span<const Pass> group, Repeated& repeated) const {
    std::set<NodeKey> done;
    std::uint64_t again = 0;
    for (const Pass& pass : group) {
      double ms = 0;
      for (const Node& node : pass.nodes) {
        repeated.all_ms += node.ms;
        ms += done.contains(node.key) ? node.ms : 0;
      }
      for (const Node& node : pass.nodes) done.insert(node.key);
      if (ms <= 0) continue;
      ++again;
      repeated.sites.Add(timeline_.where(pass.range), ms);
    }
    repeated.passes += again;
    repeated.groups += again > 0 ? 1 : 0;
  }

  const Timeline& timeline_;
  OpCost cost_;
  NameSet nodes_, accumulations_;
  std::vector<Pass> passes_;
  std::vector<std::int64_t> separators_;
};

bool HasSeveralPasses(const Timeline& timeline) {
  std::size_t passes = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    passes += ref.thread == timeline.training_thread() && timeline.event(ref).is_range(RangeCategory::kBackward) &&
              !timeline.inside(ref, RangeCategory::kBackward);
  });
  return passes > timeline.steady().size();
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!HasSeveralPasses(timeline)) return {};
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so it is not known which pass goes through which nodes")};
  }
  const Passes all(timeline);
  Repeated repeated = all.Measure();
  repeated.sites.FoldUnknown();
  if (repeated.groups == 0) return {};
  // Recording details makes host steps longer: use the nodes' share of the passes.
  const double per_step = all.on_device() ? 1.0 / static_cast<double>(timeline.detail_steps())
                                          : timeline.part_ms(Part::kBackward) / repeated.all_ms;
  const double ms = repeated.sites.ms() * per_step;
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  const double passes = 1 + static_cast<double>(repeated.passes) / static_cast<double>(repeated.groups);
  Finding finding = Costing(
      timeline, ms,
      fmt::format("{:.3g} backward passes go through the same part of the graph; one pass from the sum of their "
                  "losses goes through it once: {} per step ({})",
                  passes, MsText(ms), ShareText(timeline, ms)));
  finding.evidence = repeated.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{} passes repeat operators of a pass before them: {} per step", site.count,
                       MsText(site.ms * per_step));
  });
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kRepeatedBackward{.id = "repeated-backward",
                                        .question = "Do several backward passes go through the same graph?",
                                        .run = Run,
                                        .needs = kNeedsOps | kNeedsPasses | kNeedsCosts};

}  // namespace loopscope
