#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/procedure.h"

namespace loopscope {
namespace {

// "slower on fresh launches than threads=2; threads=4": the cells that got this verdict.
std::string Said(const SweepFacts& sweep, const std::vector<SweepComparison>& beside, TrialVerdict word,
                 std::string_view text) {
  std::vector<std::string> names;
  for (const SweepComparison& one : beside) {
    if (one.verdict == word) names.push_back(CellName(sweep.axes, sweep.cells[one.cell]));
  }
  return names.empty() ? "" : fmt::format(", {} {}", text, fmt::join(names, "; "));
}

}  // namespace

void SaySweep(const std::vector<int>& neighbours, SweepFacts& sweep) {
  if (!sweep.best) {
    sweep.verdict = "no block of the grid was measured";
    return;
  }
  const std::string best = CellName(sweep.axes, sweep.cells[*sweep.best]);
  std::vector<SweepComparison> beside;
  for (const SweepComparison& one : sweep.comparisons) {
    if (std::ranges::find(neighbours, one.cell) != neighbours.end()) beside.push_back(one);
  }
  const auto faster = [](const SweepComparison& one) { return one.verdict == TrialVerdict::kFaster; };
  sweep.stands_out = !beside.empty() && std::ranges::all_of(beside, faster);
  if (sweep.stands_out) {
    sweep.verdict =
        fmt::format("{} is faster than {}", best, beside.size() == 1 ? "its neighbour" : "each of its neighbours");
  } else if (beside.empty()) {
    sweep.verdict = best + " was quickest in the grid, and was not compared with a neighbour on fresh launches";
  } else {
    sweep.verdict = fmt::format("no cell is better than its neighbours: {} was quickest", best) +
                    Said(sweep, beside, TrialVerdict::kSlower, "slower on fresh launches than") +
                    Said(sweep, beside, TrialVerdict::kEquivalent, "no better than") +
                    Said(sweep, beside, TrialVerdict::kInconclusive, "not distinguishable from") +
                    Said(sweep, beside, TrialVerdict::kFailed, "and not compared with");
  }
}

}  // namespace loopscope
