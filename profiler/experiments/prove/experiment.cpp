#include "profiler/experiments/prove/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/experiments/blocks.h"
#include "profiler/experiments/journaled.h"
#include "profiler/experiments/prove/arm_pilots.h"
#include "profiler/experiments/prove/arms.h"
#include "profiler/experiments/prove/live.h"
#include "profiler/experiments/prove/pilots.h"
#include "profiler/experiments/prove/recommend.h"
#include "profiler/experiments/prove/rows.h"
#include "profiler/experiments/prove/same_training_launches.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

std::string Identity(const ExperimentInput& input) {
  std::string text = fmt::format("prove|{}|{}|{}", fmt::join(input.command, "\x1f"),
                                 OptionsText(input.options, input.clock), input.loader.run_ahead());
  for (const Candidate& candidate : input.candidates) {
    text += fmt::format("|{}={}", candidate.treatment->id, fmt::join(candidate.values, ","));
  }
  return text;
}

class Experiment {
 public:
  Experiment(const ExperimentInput& input, LaunchSeries& series, Report& report)
      : input_(input), series_(series), report_(report), contenders_(ContendersOf(input.candidates)) {}

  Result<void> Run() {
    series_.SpendBefore("diagnosis", input_.diagnosis_s);
    ShowIntention();
    Result<FixPilots> pilots = RunPilots(input_, contenders_, series_);
    if (!pilots) return pilots.error();
    if (input_.options.check_training) CheckTraining(input_, contenders_, *pilots, series_);
    if (input_.options.live) ScreenLive(input_, contenders_, *pilots, series_);
    if (series_.stopped()) return Interrupted();
    SetAside();
    if (contenders_.empty()) return {};
    Result<void> planned = MakePlan(*pilots);
    if (!planned) return planned;
    RunAndJudge();
    return {};
  }

 private:
  void ShowIntention() {
    std::vector<std::string> settings;
    for (const Contender& one : contenders_) settings.push_back(one.candidate.Setting());
    // Baseline, ALL, one without each, three alone.
    const int arms = static_cast<int>(contenders_.size()) + 5;
    series_.ShowPlan(
        {fmt::format("to try: {}", fmt::join(settings, ", ")),
         fmt::format("first one launch per way of running it (about {}), and untimed launches that compare "
                     "losses; then blocks of timed launches, {:.0f} s in all at most",
                     arms, input_.options.budget_s)});
    series_.Expect(arms, -1);
  }

  // Writes rows for those that are out; the others go on.
  void SetAside() {
    for (const Contender& one : contenders_) {
      if (one.alive()) continue;
      aside_.push_back(RowWithoutBlocks(one));
      const bool was_in =
          one.state.verdict == TrialVerdict::kDifferentTraining || one.state.verdict == TrialVerdict::kDropped;
      all_changed_ = all_changed_ || (was_in && one.state.in_all);
    }
    std::erase_if(contenders_, [](const Contender& one) { return !one.alive(); });
    if (contenders_.empty()) report_.trials = aside_;
  }

  Result<void> MakePlan(FixPilots& pilots) {
    std::vector<bool> in_all;
    for (const Contender& one : contenders_) in_all.push_back(one.state.in_all);
    plan_ = PlanArms(CandidatesIn(contenders_), in_all, input_.options.alone);
    plan_.side_by_side = series_.takes_turns();
    // What there will be no time for needs no pilot.
    GuessArms(pilots, all_changed_, plan_);
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    series_.Expect(static_cast<int>(std::ranges::count(plan_.arms, true, &Arm::to_pilot)) - plan_.left_out, -1);
    Result<void> piloted = RunArmPilots(input_, contenders_, pilots, plan_, series_);
    if (!piloted) return piloted;
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    report_.plan = plan_.Describe(series_.spent_s());
    series_.ShowPlan(report_.plan);
    return {};
  }

  void RunAndJudge() {
    // Where the pilots left no hope for the fewest useful blocks, the blocks themselves may be quicker.
    const BlockRun run{.blocks = std::max(plan_.blocks, std::min(kFewestBlocks, input_.options.blocks)),
                       .seed = input_.options.seed,
                       .end_s = input_.options.budget_s,
                       .kept_back = plan_.fresh_blocks,
                       .same_work = SameWorkOf(CandidatesIn(contenders_))};
    const Observations observed = RunBlocks(input_.options, run, plan_, series_);
    report_.trials = JudgeFixes(plan_, observed, contenders_, input_.options.margin);
    report_.noise = NoiseOf(plan_, observed, run.same_work.step_metric);
    if (!series_.stopped()) {
      report_.combined = MeasureRecommended(input_, plan_, report_.trials, contenders_, series_);
    }
    report_.trials.insert(report_.trials.end(), aside_.begin(), aside_.end());
  }

  const ExperimentInput& input_;
  LaunchSeries& series_;
  Report& report_;
  std::vector<Contender> contenders_;
  std::vector<TrialRow> aside_;
  ExperimentPlan plan_;
  bool all_changed_ = false;
};

}  // namespace

Result<void> RunExperiment(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                           Report& report) {
  if (input.candidates.empty()) return {};
  return RunJournaled(Identity(input), input.journal, input.options, launcher, events, report,
                      [&](LaunchSeries& series) { return Experiment(input, series, report).Run(); });
}

}  // namespace loopscope
