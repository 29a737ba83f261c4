#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/tensors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;       // of the step's work
constexpr double kMaxUsedShare = 0.1;    // of the table's rows, that a step may look up
constexpr std::int64_t kMinRows = 1000;  // smaller tables are updated in no time

using Shape = std::vector<std::int64_t>;

struct Table {
  std::int64_t most_used = 0;  // rows that one step looks up, at most: each index may be another row
  double ms = 0;               // whole gradients made, and passes over whole tables; in all detailed steps
  CallSites sites;

  double used_share(const Shape& shape) const { return static_cast<double>(most_used) / static_cast<double>(shape[0]); }
  // Per step, without the rows that are used.
  double unused_ms(const Timeline& timeline, const Shape& shape) const {
    return (1 - used_share(shape)) * MsPerDetailStep(timeline, ms);
  }
};
using Tables = std::map<Shape, Table>;

bool IsLookup(std::string_view name) {
  return name == "aten::embedding";
}

bool IsDenseGradient(std::string_view name) {
  return name == "aten::embedding_dense_backward";
}

// Weights that are looked up and get a dense gradient: (weight, indices, padding_idx, scale_grad_by_freq, sparse).
Tables LookedUp(const Timeline& timeline) {
  const NameSet lookups(timeline.trace(), IsLookup);
  Tables tables;
  timeline.ForEachDetailed([&](EventRef ref) {
    if (!lookups.Has(timeline.event(ref))) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (inputs.size() < 2 || !inputs[0].requires_grad || inputs[0].sizes.size() != 2) return;
    if (inputs.size() > 4 && inputs[4].scalar == "true") return;
    if (inputs[0].sizes[0] < kMinRows) return;
    Table& table = tables[inputs[0].sizes];
    table.most_used += inputs[1].elements();
    table.sites.Add(timeline.where(ref), 1, ModuleOf(timeline, ref));
  });
  for (auto& [shape, table] : tables) table.most_used /= std::max(1, timeline.detail_steps());
  return tables;
}

// A table that a product reads as well, as the output layer of a language model, has a dense gradient in any case.
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

// The gradient is made as large as the table, then the optimizer, clipping and zeroing pass over all of it.
void AddCosts(const Timeline& timeline, Tables& tables) {
  const NameSet gradients(timeline.trace(), IsDenseGradient), lookups(timeline.trace(), IsLookup);
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || lookups.Has(event)) return;
    const double ms = Ms(event.duration_ns());
    if (gradients.Has(event)) {  // (gradient, indices, number of rows, …)
      const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
      if (inputs.size() < 3) return;
      for (auto& [shape, table] : tables) {
        if (inputs[2].scalar == std::to_string(shape[0])) table.ms += ms;
      }
      return;
    }
    if (!timeline.outermost_op(ref)) return;
    const std::vector<TensorText> tensors = TensorsOf(timeline.inputs(ref));
    for (auto& [shape, table] : tables) table.ms += ms * ShareOf(tensors, shape);
  });
}

Finding Describe(const Timeline& timeline, const Shape& shape, const Table& table) {
  const double ms = table.unused_ms(timeline, shape);
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format(
          "all {} rows of an embedding get a gradient and an update, of which a step uses {} at most: {} per step",
          shape[0], table.most_used, MsText(ms)),
      Severity::kMedium);
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
  AddCosts(timeline, tables);
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
                                      .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
