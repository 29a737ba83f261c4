#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/experiment.h"
#include "profiler/experiments/prove/live.h"
#include "profiler/experiments/prove/rows.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

std::vector<std::string> Describe(const LivePlan& live, std::span<const Contender> contenders) {
  std::vector<std::string> settings;
  for (const Contender& one : contenders) settings.push_back(one.candidate.Setting());
  return {
      fmt::format("live pairs of {}", fmt::join(settings, "; ")),
      fmt::format("one launch, about {:.0f} s: {} rounds of {} ways of running, {} steps each, the first {} left out",
                  live.seconds, live.rounds, live.schedule.arms.size(), live.schedule.block_steps, live.settle)};
}

CandidateState NotLive() {
  CandidateState state;
  state.verdict = TrialVerdict::kNotApplicable;
  state.reason = "it cannot be switched between steps: `prove` without --quick launches with it";
  return state;
}

Error TooShort(const ExperimentInput& input, const LivePlan& live) {
  if (live.round_s <= 0) return Error{"no step was timed, or treatments are too many", "--quick", "leave it out", 3};
  return Error{
      fmt::format("the budget of {:.0f} s holds fewer than {} rounds of live pairs: the diagnosis took {:.0f} s, a "
                  "start takes {:.0f} s, and a round {:.1f} s ({} ways of running, {} steps of {:.3g} ms each)",
                  input.options.budget_s, kFewestRounds, input.diagnosis_s, input.startup_s, live.round_s,
                  live.schedule.arms.size(), live.schedule.block_steps, input.step_ms),
      "--budget",
      fmt::format("give it {:.0f} s, or try fewer treatments with --only",
                  std::ceil(input.diagnosis_s + input.startup_s + (kFewestRounds + 1) * live.round_s)),
      3};
}

Result<void> LaunchLive(const ExperimentInput& input, const LivePlan& live, const std::vector<Contender>& ones,
                        LaunchSeries& series, Report& report) {
  report.plan = Describe(live, ones);
  series.ShowPlan(report.plan);
  series.Expect(1, live.seconds);
  const LaunchResult result = series.Run(LiveSpec(input, live));
  if (series.stopped()) return Interrupted();
  if (!result.ok()) {
    return Error{
        fmt::format("the program failed while treatments were switched between its steps ({})", result.status.Text()),
        ShellQuoted(input.command), "`prove` without --quick launches it with each treatment apart\n" + result.tail, 4};
  }
  std::vector<TrialRow> rows = JudgeLive(result, live, ones, input.options.margin);
  for (TrialRow& row : rows) {
    row.loss.verdict = LossVerdict::kCannotTell;
    row.loss.detail = "one launch trained with and without it in turn";
  }
  report.noise = NoiseOf(live.plan, ObserveLive(result, live));
  report.trials.insert(report.trials.begin(), rows.begin(), rows.end());
  return {};
}

}  // namespace

Result<void> RunQuick(const ExperimentInput& input, const Launcher& launcher, const ExperimentEvents& events,
                      Report& report) {
  std::vector<int> indices;
  const std::vector<Contender> ones = LiveOnes(ContendersOf(input.candidates), indices);
  for (const Candidate& one : input.candidates) {
    if (!CanGoLive(one)) report.trials.push_back(RowWithoutBlocks({one, NotLive()}));
  }
  if (ones.empty()) return {};
  const LivePlan live =
      PlanLive(CandidatesIn(ones), {.step_ms = input.step_ms,
                                    .startup_s = input.startup_s,
                                    .run_ahead = input.loader.run_ahead(),
                                    .seconds = input.options.budget_s - input.diagnosis_s,
                                    .alone = input.options.alone < 0 ? kQuickAlone : input.options.alone,
                                    .seed = input.options.seed});
  if (live.rounds == 0) return TooShort(input, live);
  return RunJournaled("quick|" + OptionsText(input.options, input.clock), input.journal, input.options, launcher,
                      events, report,
                      [&](LaunchSeries& series) { return LaunchLive(input, live, ones, series, report); });
}

}  // namespace loopscope
