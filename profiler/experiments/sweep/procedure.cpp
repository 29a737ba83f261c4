#include "profiler/experiments/sweep/procedure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/plan.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

std::string Identity(const SweepInput& input) {
  std::string text = fmt::format("sweep|{}|{}|{}", fmt::join(input.command, "\x1f"), input.loader_only,
                                 OptionsText(input.options, ""));
  for (const SweepAxis& axis : input.axes) text += fmt::format("|{}={}", axis.key, fmt::join(axis.values, ","));
  return text;
}

class Sweep {
 public:
  Sweep(const SweepInput& input, LaunchSeries& series, Report& report)
      : input_(input), series_(series), report_(report), sweep_(report.sweep.emplace()) {
    sweep_.axes = input.axes;
    sweep_.loader_only = input.loader_only;
    sweep_.cells = CellsOf(input.axes);
  }

  Result<void> Run() {
    Result<SweepPlan> plan = RunSweepPilots(input_, sweep_, series_);
    if (!plan) {
      report_.sweep.reset();
      return plan.error();
    }
    plan_ = std::move(*plan);
    ShapeSweep(plan_, sweep_, input_.options.blocks, input_.options.budget_s - series_.spent_s());
    plan_.side_by_side = series_.takes_turns();
    AddPublished(sweep_);
    report_.plan = DescribeSweep(plan_, sweep_, series_.spent_s());
    const auto grid_end = sweep_.cells.end() - (sweep_.cells.back().values.empty() ? 1 : 0);
    if (std::all_of(sweep_.cells.begin(), grid_end,
                    [](const SweepCell& one) { return one.verdict != CellVerdict::kMeasured; })) {
      sweep_.verdict = "no cell of the grid could be measured";
      return {};
    }
    series_.ShowPlan(report_.plan);
    RunGrid();
    if (sweep_.best && !series_.stopped()) RunFresh();
    Say();
    return {};
  }

 private:
  std::vector<int> Live() const {
    std::vector<int> cells;
    for (int cell = 0; cell < static_cast<int>(plan_.live.size()); ++cell) {
      if (plan_.live[cell]) cells.push_back(cell);
    }
    return cells;
  }

  void RunGrid() {
    const std::vector<int> cells = Live();
    ExperimentPlan over = plan_.Over(cells);
    const Observations observed = RunBlocks(input_.options,
                                            {.name = "grid",
                                             .blocks = plan_.grid_blocks,
                                             .seed = input_.options.seed,
                                             .end_s = input_.options.budget_s,
                                             .drop_losers = false,
                                             .essentials = 0,
                                             .same_work = plan_.same_work},
                                            over, series_);
    for (std::size_t arm = 0; arm < cells.size(); ++arm) {
      if (!over.comparisons[arm].open()) {
        sweep_.cells[cells[arm]].verdict = CellVerdict::kFailed;
        sweep_.cells[cells[arm]].reason = over.comparisons[arm].reason;
        plan_.live[cells[arm]] = false;
        continue;
      }
      Fill(sweep_.cells[cells[arm]], observed, static_cast<int>(arm));
    }
    if (observed.blocks == 0) {
      ended_ = observed.ended_early;
      return;
    }
    ChooseBest(cells);
    if (sweep_.best) FillRatios(cells, over, observed);
  }

  void Fill(SweepCell& cell, const Observations& observed, int arm) const {
    const bool per_sample = plan_.same_work.step_metric == Metric::kSampleTime;
    const auto values = observed.Values(arm, per_sample ? &LaunchResult::ms_per_sample : &LaunchResult::ms_per_step);
    cell.n = static_cast<int>(values.size());
    if (values.empty()) return;
    cell.ms = Median(values);
    const auto samples_ms = observed.Values(arm, &LaunchResult::ms_per_sample);
    if (!samples_ms.empty()) cell.samples_per_s = 1e3 / Median(samples_ms);
    const auto peaks = observed.Values(arm, &LaunchResult::peak_bytes);
    if (!peaks.empty()) cell.peak_bytes = Median(peaks);
    std::vector<double> epochs;
    for (const Observation& row : observed.rows) {
      if (row.arm == arm && row.result.ok() && row.result.epoch_ms) epochs.push_back(*row.result.epoch_ms);
    }
    if (!epochs.empty()) cell.epoch_ms = Median(epochs);
  }

  // Chooses among the grid's own cells; the unchanged program is not a candidate.
  void ChooseBest(const std::vector<int>& cells) {
    for (const int cell : cells) {
      const SweepCell& one = sweep_.cells[cell];
      if (!plan_.live[cell] || !one.ms || one.values.empty()) continue;
      if (!sweep_.best || *one.ms < *sweep_.cells[*sweep_.best].ms) sweep_.best = cell;
    }
    if (sweep_.best) sweep_.cells[*sweep_.best].verdict = CellVerdict::kBest;
  }

  void FillRatios(const std::vector<int>& cells, const ExperimentPlan& over, const Observations& observed) {
    const int best = static_cast<int>(std::ranges::find(cells, *sweep_.best) - cells.begin());
    std::vector<std::vector<double>> d;
    std::vector<int> compared;
    for (std::size_t arm = 0; arm < cells.size(); ++arm) {
      PlannedComparison one = over.comparisons[arm];
      one.reference = best;
      const std::vector<double> differences = observed.Differences(one, plan_.same_work.step_metric);
      if (static_cast<int>(arm) == best) sweep_.cells[cells[arm]].ratio = 1;
      if (static_cast<int>(arm) == best || !one.open() || differences.empty()) continue;
      if (!d.empty() && differences.size() != d.front().size()) continue;
      d.push_back(differences);
      compared.push_back(cells[arm]);
    }
    const std::vector<Effect> effects = CompareWithReference(d, 0);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      SweepCell& cell = sweep_.cells[compared[i]];
      cell.ratio = std::exp(effects[i].estimate);
      if (effects[i].ci95) cell.ci95 = std::array{std::exp(effects[i].ci95->low), std::exp(effects[i].ci95->high)};
    }
    NoteNoise(d);
  }

  void NoteNoise(const std::vector<std::vector<double>>& d) {
    if (d.empty() || d.front().size() < 2) return;
    const PooledSpread spread = PoolWithinArms(d);
    const int n = std::max(plan_.fresh_blocks, static_cast<int>(d.front().size()));
    report_.noise.pair_sd_pct = 100 * std::sqrt(spread.variance);
    report_.noise.detectable_pct = Percent(DetectableEffect(std::sqrt(spread.variance), n, n - 1.0));
  }

  // The best one first, then its neighbours, then the unchanged program.
  std::vector<int> FreshCells() {
    std::vector<int> cells{*sweep_.best};
    neighbours_ = NeighboursOf(sweep_.axes, *sweep_.best, plan_.live);
    cells.insert(cells.end(), neighbours_.begin(), neighbours_.end());
    for (int cell = 0; cell < static_cast<int>(sweep_.cells.size()); ++cell) {
      const bool there = std::ranges::find(cells, cell) != cells.end();
      if (sweep_.cells[cell].own && plan_.live[cell] && !there) cells.push_back(cell);
    }
    return cells;
  }

  void RunFresh() {
    const std::vector<int> cells = FreshCells();
    if (cells.size() < 2 || plan_.fresh_blocks < kFewestBlocks) return;
    ExperimentPlan over = plan_.Over(cells);
    over.comparisons.erase(over.comparisons.begin());
    const Observations observed = RunBlocks(input_.options,
                                            {.name = "fresh",
                                             .blocks = plan_.fresh_blocks,
                                             .seed = input_.options.seed ^ kFreshSeed,
                                             .end_s = input_.options.budget_s,
                                             .drop_losers = false,
                                             .essentials = 1,
                                             .same_work = plan_.same_work},
                                            over, series_);
    ended_ = observed.ended_early;
    Compare(cells, over, observed);
  }

  void Compare(const std::vector<int>& cells, const ExperimentPlan& over, const Observations& observed) {
    std::vector<std::vector<double>> d;
    std::vector<std::size_t> judged;
    for (std::size_t t = 0; t < over.comparisons.size(); ++t) {
      SweepComparison one;
      one.cell = cells[t + 1];
      one.verdict = over.comparisons[t].verdict;
      if (one.verdict == TrialVerdict::kOpen) one.verdict = TrialVerdict::kInconclusive;
      one.reason = over.comparisons[t].reason;
      sweep_.comparisons.push_back(one);
      if (!over.comparisons[t].open()) continue;
      d.push_back(observed.Differences(over.comparisons[t], plan_.same_work.step_metric));
      judged.push_back(t);
    }
    const std::vector<Effect> effects = CompareWithReference(d, std::log1p(input_.options.margin));
    // Those that failed were planned too.
    std::vector<double> p(sweep_.comparisons.size(), 1), equivalent(sweep_.comparisons.size(), 1);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      p[judged[i]] = effects[i].p;
      equivalent[judged[i]] = effects[i].p_equivalent;
    }
    p = Holm(p);
    equivalent = Holm(equivalent);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      FillComparison(effects[i], p[judged[i]], equivalent[judged[i]], sweep_.comparisons[judged[i]]);
    }
  }

  void FillComparison(const Effect& effect, double p_holm, double p_equivalent_holm, SweepComparison& one) const {
    one.n = effect.n;
    if (effect.n == 0) return;
    one.speedup = std::exp(effect.estimate);
    one.method = MethodName(effect.method);
    if (!effect.ci95) {
      one.reason = fmt::format("under {} blocks no verdict is given", kFewestBlocks);
      return;
    }
    one.ci95 = std::array{std::exp(effect.ci95->low), std::exp(effect.ci95->high)};
    one.p = effect.p;
    one.p_holm = p_holm;
    if (p_holm <= 0.05) {
      one.verdict = effect.estimate > 0 ? TrialVerdict::kFaster : TrialVerdict::kSlower;
    } else if (p_equivalent_holm <= 0.05) {
      one.verdict = TrialVerdict::kEquivalent;
    }
  }

  void Say() {
    for (const std::string& why : {plan_.shortage, ended_}) {
      if (!why.empty()) sweep_.notes.push_back(why);
    }
    SaySweep(neighbours_, sweep_);
  }

  const SweepInput& input_;
  LaunchSeries& series_;
  Report& report_;
  SweepFacts& sweep_;
  SweepPlan plan_;
  std::vector<int> neighbours_;
  std::string ended_;
};

}  // namespace

Result<void> RunSweep(const SweepInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report) {
  return RunJournaled(Identity(input), input.journal, input.options, launcher, events, report,
                      [&](LaunchSeries& series) { return Sweep(input, series, report).Run(); });
}

}  // namespace loopscope
