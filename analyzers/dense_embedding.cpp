#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/gradients/lookups.h"
#include "analyzers/shared/events.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;       // of the step's work
constexpr double kMaxUsedShare = 0.1;    // of the table's rows, looked up in a step
constexpr std::int64_t kMinRows = 1000;  // smaller tables are updated in no time

using Shape = std::vector<std::int64_t>;

struct Table {
  std::int64_t most_used = 0;  // rows that one step looks up, at most: each index may be another row
  double ms = 0;               // whole gradients made, and passes over whole tables; in all detailed steps
  double optimizer_ms = 0;     // of it, in optimizers
  CallSites sites;

  double used_share(const Shape& shape) const { return static_cast<double>(most_used) / static_cast<double>(shape[0]); }
  // Per step, without the rows that are used.
  double unused_ms(const Timeline& timeline, const Shape& shape) const {
    return (1 - used_share(shape)) * MsPerDetailStep(timeline, ms);
  }
  double unused_in_optimizer_ms(const Timeline& timeline, const Shape& shape) const {
    return (1 - used_share(shape)) * MsPerDetailStep(timeline, optimizer_ms);
  }
};
using Tables = std::map<Shape, Table>;

// Shapes of the tensors that optimizers update.
std::set<Shape> UpdatedShapes(const Timeline& timeline) {
  std::set<Shape> shapes;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp || !timeline.inside(ref, RangeCategory::kOptimizer)) return;
    for (const TensorText& tensor : TensorsOf(timeline.inputs(ref))) shapes.insert(tensor.sizes);
  });
  return shapes;
}

// Weights that are looked up and get a dense gradient.
Tables LookedUp(const Timeline& timeline) {
  const NameSet lookups(timeline.trace(), IsLookup);
  const std::set<Shape> updated = UpdatedShapes(timeline);
  Tables tables;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!lookups.Has(timeline.event(ref))) return;
    if (HasAncestor(timeline, ref, [&](const Event& up) { return lookups.Has(up); })) return;
    const auto lookup = LookupOf(timeline.name(ref), ParseInputs(timeline.inputs(ref)));
    if (!lookup || !lookup->trained || lookup->sparse || lookup->table[0] < kMinRows) return;
    // Rows may also be taken from a layer's output.
    if (!lookup->only_tables && !updated.contains(lookup->table)) return;
    Table& table = tables[lookup->table];
    table.most_used += lookup->rows;
    table.sites.Add(timeline.where(ref), 1, ModuleOf(timeline, ref));
  });
  for (auto& [shape, table] : tables) table.most_used /= std::max(1, timeline.detail_steps());
  return tables;
}

// A table that a product also reads (a language model's output layer) has a dense gradient in any case.
void DropShared(const Timeline& timeline, Tables& tables) {
  const NameSet products(timeline.trace(), ops::IsMatmul);
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!products.Has(timeline.event(ref))) return;
    for (const TensorText& input : ParseInputs(timeline.inputs(ref))) {
      if (input.sizes.size() != 2 || !input.requires_grad) continue;
      tables.erase(input.sizes);
      tables.erase(Shape{input.sizes[1], input.sizes[0]});
    }
  });
}

// The table's share of the elements that an operator reads, 0 to 1.
double ShareOf(const std::vector<TensorText>& tensors, const Shape& shape) {
  double own = 0, all = 0;
  for (const TensorText& tensor : tensors) {
    const auto elements = static_cast<double>(tensor.elements());
    all += elements;
    own += tensor.sizes == shape ? elements : 0;
  }
  return all > 0 ? own / all : 0;
}

bool HasScalar(const std::vector<TensorText>& inputs, std::int64_t value) {
  const std::string text = std::to_string(value);
  return std::ranges::any_of(inputs, [&](const TensorText& input) { return input.scalar == text; });
}

// The gradient is made as large as the table, then the optimizer, clipping and zeroing pass over all of it.
class Costs {
 public:
  Costs(const Timeline& timeline, Tables& tables)
      : timeline_(timeline),
        tables_(tables),
        gradients_(timeline.trace(), MakesTableGradient),
        adds_rows_(timeline.trace(), AddsRows),
        lookups_(timeline.trace(), IsLookup),
        nodes_(timeline.trace(), ops::IsBackwardNode) {}

  void Visit(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (event.kind != EventKind::kOp || lookups_.Has(event)) return;
    if (adds_rows_.Has(event)) return AddRows(ref);
    if (gradients_.Has(event)) return AddGradient(ref);
    if (timeline_.outermost_op(ref)) AddPass(ref);
  }

 private:
  void AddGradient(EventRef ref) {
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    for (auto& [shape, table] : tables_) {
      if (HasScalar(inputs, shape[0])) table.ms += Ms(timeline_.event(ref).duration_ns());
    }
  }

  // Adds into zeros that the same node makes.
  void AddRows(EventRef ref) {
    if (HasAncestor(timeline_, ref, [&](const Event& up) { return adds_rows_.Has(up); })) return;
    const EventRef node = Ancestor(timeline_, ref, [&](const Event& up) { return nodes_.Has(up); });
    const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(ref));
    if (!Exists(node) || inputs.empty()) return;
    const auto found = tables_.find(inputs[0].sizes);
    if (found != tables_.end()) found->second.ms += Ms(timeline_.event(node).duration_ns());
  }

  void AddPass(EventRef ref) {
    const std::vector<TensorText> tensors = TensorsOf(timeline_.inputs(ref));
    const bool updates = timeline_.inside(ref, RangeCategory::kOptimizer);
    for (auto& [shape, table] : tables_) {
      const double ms = Ms(timeline_.event(ref).duration_ns()) * ShareOf(tensors, shape);
      table.ms += ms;
      table.optimizer_ms += updates ? ms : 0;
    }
  }

  const Timeline& timeline_;
  Tables& tables_;
  NameSet gradients_, adds_rows_, lookups_, nodes_;
};

Finding Describe(const Timeline& timeline, const Shape& shape, const Table& table) {
  const double ms = table.unused_ms(timeline, shape);
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format(
          "all {} rows of an embedding get a gradient and an update, of which a step uses {} at most: {} per step",
          shape[0], table.most_used, MsText(ms)),
      Severity::kMedium);
  finding.claims = {{.of = Time::kOptimizer, .ms = table.unused_in_optimizer_ms(timeline, shape)}};
  finding.evidence = table.sites.Describe([&](const CallSites::Site&) {
    return fmt::format("a table of {} x {} is looked up, not sparse", shape[0], shape[1]);
  });
  return finding;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so the sizes of embeddings are not known")};
  }
  Tables tables = LookedUp(timeline);
  if (tables.empty()) return {Finding::NotApplicable("no large embedding with dense gradients was seen")};
  DropShared(timeline, tables);
  Costs costs(timeline, tables);
  timeline.ForEachDetailed([&](EventRef ref) { costs.Visit(ref); });
  std::vector<Finding> findings;
  for (const auto& [shape, table] : tables) {
    if (table.used_share(shape) > kMaxUsedShare) continue;
    if (SharePct(timeline, table.unused_ms(timeline, shape)) < kMinSharePct) continue;
    findings.push_back(Describe(timeline, shape, table));
  }
  return findings;
}

}  // namespace

extern const Analyzer kDenseEmbedding{.id = "dense-embedding",
                                      .question = "Do embeddings get gradients for rows that were not used?",
                                      .run = Run,
                                      .needs = kNeedsOps | kNeedsPasses,
                                      .usual_share = 0.9};

}  // namespace loopscope
