#include "profiler/experiments/prove/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pilots.h"
#include "profiler/experiments/prove/live.h"
#include "profiler/experiments/prove/recommend.h"
#include "profiler/experiments/prove/same_training_launches.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

std::string Identity(const ExperimentInput& input) {
  std::string text = fmt::format("prove|{}|{}|{}", fmt::join(input.command, "\x1f"),
                                 OptionsText(input.options, input.clock), input.run_ahead);
  for (const Candidate& candidate : input.candidates) {
    text += fmt::format("|{}={}", candidate.treatment->id, fmt::join(candidate.values, ","));
  }
  return text;
}

class Experiment {
 public:
  Experiment(const ExperimentInput& input, LaunchSeries& series, Report& report)
      : input_(input), series_(series), report_(report), candidates_(input.candidates), states_(candidates_.size()) {}

  Result<void> Run() {
    ShowIntention();
    Result<Pilots> pilots = RunPilots(input_, candidates_, states_, series_);
    if (!pilots) return pilots.error();
    if (input_.options.check_training) CheckTraining(input_, candidates_, states_, *pilots, series_);
    if (input_.options.live) ScreenLive(input_, candidates_, states_, *pilots, series_);
    if (series_.stopped()) return Interrupted();
    SetAside();
    if (candidates_.empty()) return {};
    Result<void> planned = MakePlan(*pilots);
    if (!planned) return planned;
    RunAndJudge();
    return {};
  }

 private:
  void ShowIntention() {
    std::vector<std::string> settings;
    for (const Candidate& candidate : candidates_) settings.push_back(candidate.Setting());
    // Baseline, ALL, one without each, three alone.
    const int arms = static_cast<int>(candidates_.size()) + 5;
    series_.ShowPlan(
        {fmt::format("to try: {}", fmt::join(settings, ", ")),
         fmt::format("first one launch per way of running it (about {}), and untimed launches that compare "
                     "losses; then blocks of timed launches, {:.0f} s in all at most",
                     arms, input_.options.budget_s)});
    series_.Expect(arms, -1);
  }

  // Rows for those that are out; the living go on.
  void SetAside() {
    std::vector<Candidate> living;
    std::vector<CandidateState> living_states;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (states_[i].alive()) {
        living.push_back(candidates_[i]);
        living_states.push_back(states_[i]);
        continue;
      }
      aside_.push_back(RowWithoutBlocks(candidates_[i], states_[i]));
      const bool was_in = states_[i].verdict == "different-training" || states_[i].verdict == "dropped";
      all_changed_ = all_changed_ || (was_in && states_[i].in_all);
    }
    candidates_ = std::move(living);
    states_ = std::move(living_states);
    if (candidates_.empty()) report_.trials = aside_;
  }

  Result<void> MakePlan(const Pilots& pilots) {
    std::vector<bool> in_all;
    for (const CandidateState& state : states_) in_all.push_back(state.in_all);
    plan_ = PlanArms(candidates_, in_all, input_.options.alone);
    plan_.side_by_side = series_.takes_turns();
    // What there will be no time for needs no pilot.
    GuessArms(pilots, all_changed_, plan_);
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    series_.Expect(static_cast<int>(std::ranges::count(plan_.arms, true, &Arm::to_pilot)) - plan_.left_out, -1);
    Result<void> piloted = RunArmPilots(input_, candidates_, pilots, plan_, series_);
    if (!piloted) return piloted;
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    report_.plan = plan_.Describe(candidates_, series_.spent_s());
    series_.ShowPlan(report_.plan);
    return {};
  }

  void RunAndJudge() {
    // Where the pilots left no hope for the fewest blocks that tell something, the blocks themselves may be quicker.
    const BlockRun run{.blocks = std::max(plan_.blocks, std::min(kFewestBlocks, input_.options.blocks)),
                       .seed = input_.options.seed,
                       .end_s = input_.options.budget_s,
                       .kept_back = plan_.fresh_blocks,
                       .same_work = SameWorkOf(candidates_)};
    const Observations observed = RunBlocks(input_, run, candidates_, plan_, series_);
    report_.trials = JudgeTrials(plan_, observed, candidates_, states_, input_.options.margin);
    report_.noise = NoiseOf(plan_, observed, run.same_work.step_metric);
    if (!series_.stopped()) {
      report_.combined = MeasureRecommended(input_, plan_, report_.trials, candidates_, states_, series_);
    }
    report_.trials.insert(report_.trials.end(), aside_.begin(), aside_.end());
  }

  const ExperimentInput& input_;
  LaunchSeries& series_;
  Report& report_;
  std::vector<Candidate> candidates_;
  std::vector<CandidateState> states_;
  std::vector<TrialRow> aside_;
  ExperimentPlan plan_;
  bool all_changed_ = false;
};

}  // namespace

Result<void> RunExperiment(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                           Report& report) {
  if (input.candidates.empty()) return {};
  Result<std::unique_ptr<Journal>> journal = OpenJournal(input.journal, Identity(input), input.options);
  if (!journal) return journal.error();
  LaunchSeries series(launcher, events, std::move(*journal));
  Result<void> done = Experiment(input, series, report).Run();
  FinishSeries(series, report);
  return done;
}

}  // namespace loopscope
