// Loops of the program that call operators once for each of many things, found by the lines that run them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "analyzers/shared/evidence.h"
#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

using CodeLine = std::tuple<std::string, std::string, int>;  // path, function, line
CodeLine CodeLineOf(const Where& where);

// The user's frames of an operator, innermost first.
std::span<const Where> FramesOf(const Timeline& timeline, EventRef ref);

// The line that causes each operator of the detailed steps: its own, or in the backward pass that of the operator whose
// node it runs.
class ForwardLines {
 public:
  explicit ForwardLines(const Timeline& timeline);  // which is kept by reference
  const Where* Of(EventRef ref) const;              // nullptr where none is known

 private:
  const Timeline& timeline_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Where*> backward_;  // by outermost operator
};

// Calls `visit` for each outermost operator of the forward pass in the detailed steps.
void ForEachForward(const Timeline& timeline, const std::function<void(EventRef)>& visit);

// What one event in the detailed steps adds to the mean over their backward passes: repetition by gradient accumulation
// is not a loop.
double ShareOfPass(const Timeline& timeline);

enum class LoopBody { kAnything, kOutsideModules };

// Extends `turns` to all lines of its loops, with how often each runs per backward pass: lines of the same functions
// that run an operator at least every other turn, if `body` allows.
std::set<CodeLine> LinesOfLoops(const Timeline& timeline, const std::map<CodeLine, double>& turns, LoopBody body);

struct LoopCost {
  double operators = 0;  // outermost ones of the forward pass, per step
  double ms = 0;         // per step, with the backward pass that its operators lead to
  double gain_ms = 0;    // of it: the code between operators, and the price of calling each
  double steps = 0;      // detailed ones
  CallSites sites;       // of the forward pass, in total over the detailed steps
};

// The cost of a loop that consists of `lines`; nullopt if its operators are not short, so that their time depends on
// what they compute.
std::optional<LoopCost> MeasureLoop(const Timeline& timeline, const std::set<CodeLine>& lines);

// A finding of `cost`; nullopt where less than 5 % of the step is expected to be gained. `per_operator` says what for.
std::optional<Finding> LoopFinding(const Timeline& timeline, const LoopCost& cost, std::string title,
                                   std::string_view per_operator);

}  // namespace loopscope
