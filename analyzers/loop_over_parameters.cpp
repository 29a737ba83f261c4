#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/shared/events.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/loops.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinTurns = 16;           // for a backward pass
constexpr double kMinTurnsOfUnknown = 32;  // if the optimizer's number of tensors is unknown
constexpr double kMinOfTensors = 0.4;      // of the optimizer's tensors: a penalty often leaves out the biases

bool ReducesToANumber(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames{
      "aten::norm",    "aten::linalg_vector_norm", "aten::frobenius_norm", "aten::sum", "aten::mean", "aten::dist",
      "aten::mse_loss"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// Shapes of layers' weights.
Shapes ShapesOfWeights(const Timeline& timeline) {
  const NameSet products(timeline.trace(), ops::IsProduct);
  Shapes shapes;
  ForEachForward(timeline, [&](EventRef ref) {
    if (!products.Has(timeline.event(ref))) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (inputs.size() > 1 && inputs[1].is_tensor && inputs[1].requires_grad) shapes.insert(inputs[1].sizes);
  });
  return shapes;
}

// Lines outside of modules that reduce tensor after tensor, with how many for each backward pass.
std::map<CodeLine, double> LinesThatReduce(const Timeline& timeline, double least) {
  const NameSet reduces(timeline.trace(), ReducesToANumber);
  const double share = ShareOfPass(timeline);
  std::map<CodeLine, double> lines;
  std::map<CodeLine, Shapes> shapes;
  ForEachForward(timeline, [&](EventRef ref) {
    const std::span<const Where> frames = FramesOf(timeline, ref);
    if (frames.empty() || !reduces.Has(timeline.event(ref)) || !ModuleOf(timeline, ref).empty()) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    if (inputs.empty() || !inputs[0].is_tensor || !inputs[0].requires_grad) return;
    // A generator's operators and those of the sum() over it are on one line.
    for (const Where& frame : frames) {
      if (frame.path != frames.front().path || frame.line != frames.front().line) break;
      lines[CodeLineOf(frame)] += share;
      shapes[CodeLineOf(frame)].insert(inputs[0].sizes);
    }
  });
  // The same shape in each turn, unlike any weight's: results of a model that is called repeatedly, not parameters.
  const Shapes weights = ShapesOfWeights(timeline);
  std::erase_if(lines, [&](const auto& line) {
    const Shapes& own = shapes[line.first];
    return line.second < least || (own.size() == 1 && !weights.contains(*own.begin()));
  });
  return lines;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) {
    return {Finding::CannotTell(WhyNoDetail(timeline) + ", so it is not known which line takes which tensor")};
  }
  const auto tensors = NumberFact(timeline.trace(), "optimizer{}.parameters");
  const std::map<CodeLine, double> turns = LinesThatReduce(
      timeline, tensors ? std::max(kMinTurns, kMinOfTensors * static_cast<double>(*tensors)) : kMinTurnsOfUnknown);
  if (turns.empty()) return {};
  const auto cost = MeasureLoop(timeline, LinesOfLoops(timeline, turns, LoopBody::kOutsideModules));
  if (!cost) return {};
  auto finding =
      LoopFinding(timeline, *cost,
                  fmt::format("a loop computes with the parameters one by one: {:.0f} operators per step, {} "
                              "with their backward pass",
                              cost->operators, MsText(cost->ms)),
                  "for one parameter after the other");
  if (!finding) return {};
  return {std::move(*finding)};
}

}  // namespace

extern const Analyzer kLoopOverParameters{.id = "loop-over-parameters",
                                          .question = "Does the loss take the model's parameters one by one?",
                                          .run = Run,
                                          .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
