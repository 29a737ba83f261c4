#include "profiler/experiments/pilots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "probes/wire.h"
#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/plan.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

constexpr char kLoaderOnly[] = "loader.only";
constexpr double kSameSamples = 1e-3;  // relative

std::vector<std::string> NoValues(const Finding&, const Host&) {
  return {};
}

// The loop iterates over the loader and computes nothing: asked of every launch of --loader-only.
const Treatment kLoaderAlone{.id = kLoaderOnly,
                             .summary = "the loader alone",
                             .exactness = Exactness::kChangesTraining,
                             .condition = "",
                             .metric = Metric::kStepTime,
                             .cures = {},
                             .appliers = {},
                             .values = NoValues};

// What a launch says of one of its settings.
enum class Taken { kChanged, kHadIt, kNot };

Taken TakenUp(std::string_view key, std::string_view value, const LaunchResult& result, std::string& why) {
  why = WhyNotApplied(key, result.applied);
  if (why.empty()) return Taken::kChanged;
  for (const Applied& one : result.applied) {
    if (one.key != key) continue;
    // With the reason of one that does not apply stands the value that was asked for, where the program has it.
    const bool says_so = (one.flags & wire::kAppliedNotApplicable) != 0 && one.old_value == value;
    if (says_so || (one.flags == 0 && one.old_value == one.new_value)) return Taken::kHadIt;
  }
  return Taken::kNot;
}

class SweepPilots {
 public:
  SweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series)
      : input_(input), sweep_(sweep), series_(series) {
    plan_.input.command = input.command;
    plan_.input.options = input.options;
    for (const SweepAxis& axis : input.axes) {
      for (const std::string& value : axis.values) {
        plan_.input.candidates.push_back({FindTreatment(axis.key), {value}, {}, 0});
      }
    }
    plan_.same_work.epochs = SameWorkOf(plan_.input.candidates).epochs;
    if (input.loader_only) plan_.input.candidates.push_back({&kLoaderAlone, {"on"}, {}, 0});
    run_ahead_ = RunAhead(plan_.input.candidates, {});
    window_ = PilotWindow(input.options, run_ahead_, 0);
  }

  Result<SweepPlan> Run() {
    series_.ShowPlan(
        {fmt::format("{} cells: one launch of each first, then blocks of timed launches, {:.0f} s in all "
                     "at most",
                     sweep_.cells.size(), input_.options.budget_s)});
    series_.Expect(static_cast<int>(sweep_.cells.size()) + 1, -1);
    if (const auto asis = RunAsItIs(); !asis) return asis.error();
    for (std::size_t cell = 0; cell < sweep_.cells.size(); ++cell) {
      plan_.arms.push_back(ArmOf(sweep_.cells[cell]));
      plan_.live.push_back(true);
      pilots_.push_back(Pilot(cell));
      if (series_.stopped()) return Interrupted();
    }
    ChooseMetric();
    HoldCells();
    AddAsItIs();
    ChooseWindow();
    return std::move(plan_);
  }

 private:
  Arm ArmOf(const SweepCell& cell) const {
    Arm arm{.name = CellName(input_.axes, cell), .members = {}};
    int first = 0;
    for (std::size_t axis = 0; axis < input_.axes.size() && !cell.values.empty(); ++axis) {
      const auto& values = input_.axes[axis].values;
      arm.members.push_back(first + static_cast<int>(std::ranges::find(values, cell.values[axis]) - values.begin()));
      first += static_cast<int>(values.size());
    }
    if (input_.loader_only) arm.members.push_back(static_cast<int>(plan_.input.candidates.size()) - 1);
    return arm;
  }

  LaunchResult Launch(const Arm& arm) {
    LaunchSpec spec = SpecOf(input_.options, plan_.input.clock, window_, "pilot, " + arm.name);
    spec.treatment = SettingsOf(arm, plan_.input.candidates);
    return series_.Insist(spec);
  }

  Result<void> RunAsItIs() {
    const std::string command = fmt::format("{}", fmt::join(input_.command, " "));
    as_it_is_ = Launch(ArmOf(SweepCell{}));
    if (as_it_is_.ok() && ChangesRunAhead(plan_.input.candidates)) {
      epoch_ = as_it_is_.steps_per_epoch;
      window_ = WholeEpochs(window_, PilotWindow(input_.options, 0, 0).steps, input_.options, epoch_);
      Arm again = ArmOf(SweepCell{});
      again.name += ", whole epochs";
      if (window_.whole_epochs) as_it_is_ = Launch(again);
    }
    if (series_.stopped()) return Interrupted();
    std::string why;
    const bool alone = !input_.loader_only || TakenUp(kLoaderOnly, "on", as_it_is_, why) == Taken::kChanged;
    // A loop that was not replaced may still have ended in order; one that could not be is said to be so.
    if (!alone && (as_it_is_.ok() || as_it_is_.status == "no steps")) {
      return Error{"the loader of this program cannot be measured alone: " + why, command,
                   "sweep it without --loader-only; a C++ program offers the knob loader.only (probes/loopscope.h)", 3};
    }
    if (!as_it_is_.ok()) return CommandFailed(command, as_it_is_);
    plan_.input.clock = as_it_is_.clock;
    return {};
  }

  void Out(std::size_t cell, const char* verdict, std::string reason) {
    sweep_.cells[cell].verdict = verdict;
    sweep_.cells[cell].reason = std::move(reason);
    plan_.live[cell] = false;
  }

  LaunchResult Pilot(std::size_t index) {
    LaunchResult result = Launch(plan_.arms[index]);
    SweepCell& cell = sweep_.cells[index];
    if (!result.ok()) {
      Out(index, "failed", FailureOf(result));
      return result;
    }
    cell.own = true;
    for (std::size_t axis = 0; axis < input_.axes.size(); ++axis) {
      std::string why;
      const Taken taken = TakenUp(input_.axes[axis].key, cell.values[axis], result, why);
      cell.own = cell.own && taken == Taken::kHadIt;
      if (taken == Taken::kNot) {
        Out(index, Raised(input_.axes[axis].key, result) ? "failed" : "not-applicable",
            fmt::format("{}={}: {}", input_.axes[axis].key, cell.values[axis], why));
        break;
      }
    }
    NoteWorkers(result);
    return result;
  }

  static bool Raised(std::string_view key, const LaunchResult& result) {
    return std::ranges::any_of(
        result.applied, [&](const Applied& one) { return one.key == key && (one.flags & wire::kAppliedFailed) != 0; });
  }

  // What the loader had before a cell changed it runs ahead too.
  void NoteWorkers(const LaunchResult& result) {
    for (const Applied& one : result.applied) {
      if (one.key != "loader.workers" || one.flags != 0) continue;
      untreated_.workers = std::clamp(std::atoi(one.old_value.c_str()), untreated_.workers, 64);
    }
  }

  static double Samples(const LaunchResult& result) {
    return result.ms_per_sample > 0 ? result.ms_per_step / result.ms_per_sample : 0;
  }

  // Before the first block, and by the samples of steps alone.
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
      if (!why.empty()) Out(cell, "failed", "not comparable: " + why);
    }
  }

  // The grid may not hold what the program does by itself; a sweep that says what is best says also what it brings.
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
    double fastest_ms = 0;
    for (std::size_t cell = 0; cell < pilots_.size(); ++cell) {
      Arm& arm = plan_.arms[cell];
      if (!plan_.live[cell]) continue;
      arm.ms_per_step = pilots_[cell].ms_per_step;
      arm.wall_s = pilots_[cell].wall_s;
      arm.settled_after = pilots_[cell].settled_after;
      fastest_ms = fastest_ms == 0 ? arm.ms_per_step : std::min(fastest_ms, arm.ms_per_step);
    }
    run_ahead_ = std::max(run_ahead_, RunAhead(plan_.input.candidates, untreated_));
    const ExperimentOptions options = WithWarmup(input_.options, plan_.arms);
    plan_.window = FinalWindow(options, run_ahead_, 0, fastest_ms);
    plan_.window = WholeEpochs(plan_.window, FinalWindow(options, 0, 0, fastest_ms).steps, options, epoch_);
    const int more = plan_.window.warmup + plan_.window.steps - window_.warmup - window_.steps;
    for (Arm& arm : plan_.arms) arm.wall_s += more * arm.ms_per_step / 1e3;
  }

  const SweepInput& input_;
  SweepFacts& sweep_;
  LaunchSeries& series_;
  SweepPlan plan_;
  LoaderDepth untreated_;
  int run_ahead_ = 0;
  Window window_;
  int epoch_ = 0;  // steps, where axes change how far the loader runs ahead; else 0
  LaunchResult as_it_is_;
  std::vector<LaunchResult> pilots_;
};

}  // namespace

Result<SweepPlan> RunSweepPilots(const SweepInput& input, SweepFacts& sweep, LaunchSeries& series) {
  return SweepPilots(input, sweep, series).Run();
}

}  // namespace loopscope
