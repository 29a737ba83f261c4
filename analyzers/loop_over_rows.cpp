#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/shared/events.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/loops.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinRows = 16;  // of a tensor, that one line takes for a backward pass

bool TakesARow(std::string_view name) {
  return name == "aten::select" || name == "aten::slice" || name == "aten::narrow";
}

// Lines that take row after row of one tensor, with the rows for each backward pass.
std::map<CodeLine, double> LinesThatTakeRows(const Timeline& timeline) {
  const NameSet takes(timeline.trace(), TakesARow);
  const double share = ShareOfPass(timeline);
  std::map<std::pair<CodeLine, std::vector<std::int64_t>>, double> rows;  // by the tensor's sizes
  ForEachForward(timeline, [&](EventRef ref) {
    const std::span<const Where> frames = FramesOf(timeline, ref);
    if (frames.empty() || !takes.Has(timeline.event(ref))) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (!inputs.empty()) rows[{CodeLineOf(frames.front()), inputs[0].sizes}] += share;
  });
  std::map<CodeLine, double> lines;
  for (const auto& [key, count] : rows) {
    if (count >= kMinRows) lines[key.first] = std::max(lines[key.first], count);
  }
  return lines;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so it is not known which line takes which tensor")};
  }
  const std::map<CodeLine, double> takers = LinesThatTakeRows(timeline);
  if (takers.empty()) return {};
  const auto cost = MeasureLoop(timeline, LinesOfLoops(timeline, takers, LoopBody::kAnything));
  if (!cost) return {};
  double rows = 0;
  for (const auto& [line, count] : takers) rows = std::max(rows, count);
  auto finding = LoopFinding(timeline, *cost,
                             fmt::format("a loop takes {:.0f} rows of a tensor one by one: {:.0f} operators per step, "
                                         "{} with their backward pass",
                                         rows, cost->operators, MsText(cost->ms)),
                             "for one row after the other");
  if (!finding) return {};
  return {std::move(*finding)};
}

}  // namespace

extern const Analyzer kLoopOverRows{.id = "loop-over-rows",
                                    .question = "Does a loop take the rows of a tensor one by one?",
                                    .run = Run,
                                    .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
