#include "profiler/experiments/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/sweep/grid.h"

namespace loopscope {
namespace {

constexpr double kGridShare = 0.5;  // of the budget; the rest is for fresh blocks

// Upper bound for a block of the best cell, whichever that is, and its neighbours.
double DearestFreshBlock(const SweepPlan& plan, const SweepFacts& sweep) {
  double dearest = 0;
  for (int cell = 0; cell < static_cast<int>(CellsOf(sweep.axes).size()); ++cell) {
    if (!plan.live[cell]) continue;
    std::vector<int> cells = NeighboursOf(sweep.axes, cell, plan.live);
    cells.push_back(cell);
    cells.push_back(static_cast<int>(plan.live.size()) - 1);
    dearest = std::max(dearest, plan.Seconds(cells));
  }
  return dearest;
}

}  // namespace

ExperimentPlan SweepPlan::Over(const std::vector<int>& cells) const {
  ExperimentPlan over;
  over.clock = clock;
  over.window = window;
  over.wants_fresh = false;
  over.side_by_side = side_by_side;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    over.arms.push_back(arms[cells[i]]);
    // Each arm is compared with the first; the first itself has nothing to compare.
    const int arm = static_cast<int>(i);
    over.comparisons.push_back({.with_others = false, .arm = arm, .reference = 0});
  }
  return over;
}

double SweepPlan::Seconds(const std::vector<int>& cells) const {
  double seconds = 0;
  for (const int cell : cells) seconds += arms[cell].wall_s;
  return seconds;
}

void ShapeSweep(SweepPlan& plan, const SweepFacts& sweep, int blocks, double left_s) {
  std::vector<int> cells;
  for (int cell = 0; cell < static_cast<int>(plan.live.size()); ++cell) {
    if (plan.live[cell]) cells.push_back(cell);
  }
  const double grid_s = plan.Seconds(cells), fresh_s = DearestFreshBlock(plan, sweep);
  const auto fitting = [](double seconds, double block_s, int most) {
    if (block_s <= 0) return most;
    return std::clamp(static_cast<int>(std::floor(seconds / block_s)), 0, most);
  };
  const int wanted = (blocks + 1) / 2;
  plan.grid_blocks = std::max(1, fitting(kGridShare * left_s, grid_s, wanted));
  const auto fresh = [&] { return fitting(left_s - plan.grid_blocks * grid_s, fresh_s, blocks); };
  // Without fresh blocks there is no verdict: they come first.
  while (plan.grid_blocks > 1 && fresh() < std::min(kFewestBlocks, blocks)) --plan.grid_blocks;
  plan.fresh_blocks = fresh();
  if (plan.fresh_blocks < kFewestBlocks) {
    plan.fresh_blocks = 0;
    plan.shortage = fmt::format(
        "the budget holds fewer than {} fresh blocks: nothing will be called best (--budget, --blocks)", kFewestBlocks);
  }
}

std::vector<std::string> DescribeSweep(const SweepPlan& plan, const SweepFacts& sweep, double spent_s) {
  std::vector<int> cells;
  for (int cell = 0; cell < static_cast<int>(plan.live.size()); ++cell) {
    if (plan.live[cell]) cells.push_back(cell);
  }
  const bool beside = sweep.cells.back().values.empty();
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} of {} cells can be measured{}", cells.size() - beside, sweep.cells.size() - beside,
                              beside ? "; beside them the program as it is" : ""));
  lines.push_back(fmt::format("{} blocks of the grid, each in random order", plan.grid_blocks));
  if (plan.fresh_blocks > 0) {
    lines.push_back(fmt::format("then {} fresh blocks of the quickest cell and its neighbours", plan.fresh_blocks));
  }
  lines.push_back(
      fmt::format("each launch: {}{}", DescribeWindow(plan.window), sweep.loader_only ? ", of the loader alone" : ""));
  if (plan.side_by_side) lines.push_back(DescribeTurns(plan.Over(cells)));
  const double seconds = plan.grid_blocks * plan.Seconds(cells) + plan.fresh_blocks * DearestFreshBlock(plan, sweep);
  lines.push_back(fmt::format("about {:.0f} s ({:.0f} s already spent)", std::ceil(seconds), std::ceil(spent_s)));
  if (!plan.shortage.empty()) lines.push_back(plan.shortage);
  return lines;
}

}  // namespace loopscope
