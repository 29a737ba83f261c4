#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "profiler/core/printable.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/candidates.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/procedure.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

// Asked of every launch of --loader-only: the loop iterates over the loader and computes nothing.
constexpr char kLoaderOnly[] = "loader.only";
constexpr double kSameSamples = 1e-3;  // relative

// Each axis as a candidate: its treatment with all of its values.
std::vector<Candidate> Tried(const std::vector<SweepAxis>& axes) {
  std::vector<Candidate> tried;
  for (const SweepAxis& axis : axes) tried.push_back({FindTreatment(axis.key), axis.values, {}, 0});
  return tried;
}

class SweepPilots {
 public:
  SweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series)
      : input_(input),
        sweep_(sweep),
        series_(series),
        tried_(Tried(input.axes)),
        run_(input.options, "", PilotWindow(input.options, RunAhead(tried_, {}), 0), series) {
    plan_.same_work.epochs = SameWorkOf(tried_).epochs;
  }

  Result<SweepPlan> Run() {
    series_.ShowPlan(
        {fmt::format("{} cells: one launch of each first, then blocks of timed launches, {:.0f} s in all "
                     "at most",
                     sweep_.cells.size(), input_.options.budget_s)});
    series_.Expect(static_cast<int>(sweep_.cells.size()) + 1, -1);
    if (const auto asis = RunAsItIs(); !asis) return asis.error();
    for (const SweepCell& cell : sweep_.cells) plan_.arms.push_back(ArmOf(cell));
    plan_.live.assign(sweep_.cells.size(), true);
    while (pilots_.size() < sweep_.cells.size()) {
      const std::size_t first = pilots_.size(), count = CellsWithTime();
      if (count == 0) break;
      const std::vector<LaunchResult> results = run_.LaunchBeside(std::span(plan_.arms).subspan(first, count));
      if (series_.stopped()) return Interrupted();
      for (const LaunchResult& result : results) TakePilot(result);
    }
    while (pilots_.size() < sweep_.cells.size()) {
      Out(pilots_.size(), CellVerdict::kLeftOut, "the budget left no time for it (--budget)");
      pilots_.emplace_back();
    }
    ChooseMetric();
    HoldCells();
    AddAsItIs();
    ChooseWindow();
    return std::move(plan_);
  }

 private:
  Arm ArmOf(const SweepCell& cell) const {
    Arm arm{.name = CellName(input_.axes, cell), .settings = {}};
    for (std::size_t axis = 0; axis < cell.values.size(); ++axis) {
      arm.settings.emplace_back(input_.axes[axis].key, cell.values[axis]);
    }
    if (input_.loader_only) arm.settings.emplace_back(kLoaderOnly, "on");
    return arm;
  }

  Result<void> RunAsItIs() {
    const std::string command = ShellQuoted(input_.command);
    Arm arm = ArmOf(SweepCell{});
    as_it_is_ = run_.Launch(arm);
    // The loader alone has no epochs of training.
    if (as_it_is_.ok() && !input_.loader_only && ChangesRunAhead(tried_)) {
      arm.name += ", whole epochs";
      if (run_.HoldEpochs(as_it_is_.steps_per_epoch)) as_it_is_ = run_.Launch(arm);
    }
    if (series_.stopped()) return Interrupted();
    std::string why;
    const bool alone = !input_.loader_only || TakenUp(kLoaderOnly, "on", as_it_is_.applied, why) == Taken::kChanged;
    // A loop that was not replaced may still have ended in order; one that could not be replaced is reported as such.
    if (!alone && (as_it_is_.ok() || as_it_is_.status.end == LaunchEnd::kNoSteps)) {
      return Error{"the loader of this program cannot be measured alone: " + why, command,
                   "sweep it without --loader-only; a C++ program offers the knob loader.only (probes/loopscope.h)", 3};
    }
    if (!as_it_is_.ok()) return CommandFailed(command, as_it_is_);
    run_.CountBy(as_it_is_.clock);
    return {};
  }

  void Out(std::size_t cell, CellVerdict verdict, std::string reason) {
    sweep_.cells[cell].verdict = verdict;
    sweep_.cells[cell].reason = std::move(reason);
    plan_.live[cell] = false;
  }

  // How many cells to launch next, together: afterwards there must be time for a block of all launched cells and for
  // the fewest fresh blocks, at the pace of the slowest so far. The first two only need time for themselves: one cell
  // is not a grid.
  std::size_t CellsWithTime() const {
    std::vector<Arm> timed(1);
    Estimate(timed[0], as_it_is_);
    for (const LaunchResult& pilot : pilots_) {
      if (pilot.ok()) Estimate(timed.emplace_back(), pilot);
    }
    const double pilot_s = std::ranges::max_element(timed, {}, &Arm::wall_s)->wall_s;
    (void)run_.FinalWindowOf(timed, {.run_ahead = RunAhead(tried_, untreated_)});
    const double launch_s = std::ranges::max_element(timed, {}, &Arm::wall_s)->wall_s;
    const auto fits = [&](std::size_t more) {
      const std::size_t made = pilots_.size() + more, grid = made + 1;  // with the program as it is
      // The quickest, a neighbour on each side along each axis, and the program as it is.
      const std::size_t fresh = std::min(grid, 2 + 2 * input_.axes.size());
      const std::size_t after = made <= kStartAtOnce ? 0 : grid + kFewestBlocks * fresh;
      const double needed_s = static_cast<double>(more) * pilot_s + static_cast<double>(after) * launch_s;
      return series_.spent_s() + needed_s <= input_.options.budget_s;
    };
    std::size_t count = std::min(kStartAtOnce, sweep_.cells.size() - pilots_.size());
    while (count > 0 && !fits(count)) --count;
    return count;
  }

  void TakePilot(const LaunchResult& result) {
    const std::size_t index = pilots_.size();
    pilots_.push_back(result);
    SweepCell& cell = sweep_.cells[index];
    if (!result.ok()) return Out(index, CellVerdict::kFailed, FailureOf(result));
    cell.own = true;
    for (std::size_t axis = 0; axis < input_.axes.size(); ++axis) {
      std::string why;
      const Taken taken = TakenUp(input_.axes[axis].key, cell.values[axis], result.applied, why);
      cell.own = cell.own && taken == Taken::kHadIt;
      if (taken == Taken::kNot) {
        Out(index,
            FailedToApply(input_.axes[axis].key, result.applied) ? CellVerdict::kFailed : CellVerdict::kNotApplicable,
            fmt::format("{}={}: {}", input_.axes[axis].key, cell.values[axis], why));
        break;
      }
    }
    NoteWorkers(result);
  }

  // The loader's own settings before a cell changed them also count for running ahead.
  void NoteWorkers(const LaunchResult& result) {
    for (const Applied& one : result.applied) {
      if (one.key != "loader.workers" || one.flags != 0) continue;
      untreated_.workers = std::clamp(std::atoi(one.old_value.c_str()), untreated_.workers, 64);
    }
  }

  static double Samples(const LaunchResult& result) {
    return result.ms_per_sample > 0 ? result.ms_per_step / result.ms_per_sample : 0;
  }

  // Chosen before the first block, and from the samples of steps alone.
  void ChooseMetric() {
    for (std::size_t cell = 0; cell < pilots_.size(); ++cell) {
      const double own = Samples(pilots_[cell]), usual = Samples(as_it_is_);
      if (plan_.live[cell] && own > 0 && usual > 0 && std::abs(own / usual - 1) > kSameSamples) {
        plan_.same_work.step_metric = Metric::kSampleTime;
        sweep_.metric = "sample-time";
      }
    }
  }

  void HoldCells() {
    for (std::size_t cell = 0; cell < pilots_.size(); ++cell) {
      if (!plan_.live[cell]) continue;
      const std::string why = UnequalWork(as_it_is_, pilots_[cell], plan_.same_work);
      if (!why.empty()) Out(cell, CellVerdict::kFailed, LaunchStatus{LaunchEnd::kNotComparable, why}.Text());
    }
  }

  // The grid may not contain the program's own settings; a sweep that names the best cell also reports its gain.
  void AddAsItIs() {
    for (std::size_t cell = 0; cell < sweep_.cells.size(); ++cell) {
      if (sweep_.cells[cell].own && plan_.live[cell]) return;
    }
    SweepCell own;
    own.own = true;
    plan_.arms.push_back(ArmOf(own));
    plan_.live.push_back(true);
    pilots_.push_back(as_it_is_);
    sweep_.cells.push_back(std::move(own));
  }

  void ChooseWindow() {
    for (std::size_t cell = 0; cell < pilots_.size(); ++cell) {
      if (plan_.live[cell]) Estimate(plan_.arms[cell], pilots_[cell]);
    }
    const int run_ahead = std::max(RunAhead(tried_, {}), RunAhead(tried_, untreated_));
    plan_.clock = run_.clock();
    plan_.window = run_.FinalWindowOf(plan_.arms, {.run_ahead = run_ahead});
  }

  const SweepInput& input_;
  SweepFacts& sweep_;
  LaunchSeries& series_;
  std::vector<Candidate> tried_;
  PilotRun run_;
  SweepPlan plan_;
  LoaderDepth untreated_;
  LaunchResult as_it_is_;
  std::vector<LaunchResult> pilots_;
};

}  // namespace

Result<SweepPlan> RunSweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series) {
  return SweepPilots(input, sweep, series).Run();
}

}  // namespace loopscope
