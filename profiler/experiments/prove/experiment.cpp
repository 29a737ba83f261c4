#include "profiler/experiments/prove/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/experiments/blocks.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/prove/arms.h"
#include "profiler/experiments/prove/live.h"
#include "profiler/experiments/prove/pilots.h"
#include "profiler/experiments/prove/recommend.h"
#include "profiler/experiments/prove/rows.h"
#include "profiler/experiments/prove/same_training.h"
#include "profiler/experiments/prove/whole_set.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

std::string Identity(const ExperimentInput& input) {
  std::string text = fmt::format("prove|{}|{}|{}", fmt::join(input.command, "\x1f"),
                                 OptionsText(input.options, input.clock), input.loader.run_ahead());
  for (const Candidate& candidate : input.candidates) {
    text += fmt::format("|{}={}", candidate.treatment->id, fmt::join(candidate.values, ","));
  }
  if (input.options.until_decided) text += "|all first";
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
    if (std::ranges::none_of(contenders_, &Contender::alive)) {
      SetAside();
      return {};
    }
    if (input_.options.check_training) CheckTraining(input_, contenders_, *pilots, series_);
    if (input_.options.live) ScreenLive(input_, contenders_, *pilots, series_);
    if (series_.stopped()) return Interrupted();
    SetAside();
    if (contenders_.empty()) return {};
    PlanFixes(*pilots);
    if (input_.options.until_decided) whole_ = MeasureWholeSet(input_, contenders_, *pilots, plan_, series_);
    if (whole_) {
      report_.plan = whole_->description;
      GuessFromPairs(whole_->observed, plan_);
    }
    if (whole_ && whole_->only_fix) {
      JudgeOnlyFix();
    } else {
      Result<void> shaped = ShapeBlocks(*pilots);
      if (!shaped) return shaped;
      RunAndJudge();
    }
    report_.trials.insert(report_.trials.end(), aside_.begin(), aside_.end());
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

  // Writes rows for fixes that are out, and keeps the others.
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

  void PlanFixes(const FixPilots& pilots) {
    std::vector<bool> in_all;
    for (const Contender& one : contenders_) in_all.push_back(one.state.in_all);
    plan_ = PlanArms(CandidatesIn(contenders_), in_all, input_.options.alone);
    plan_.side_by_side = series_.takes_turns();
    GuessArms(pilots, all_changed_, plan_);
  }

  Result<void> ShapeBlocks(FixPilots& pilots) {
    plan_.set_known = whole_.has_value();
    if (whole_ && series_.stopped()) {
      EndAll("interrupted before it was measured by itself");
      return {};
    }
    // Arms that the budget cannot measure need no pilot.
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    if (whole_ && (whole_->with_first_fix() || plan_.blocks < kFewestBlocks)) {
      EndAll("the budget left no blocks for it by itself, only for all fixes together (--budget, --only)");
    }
    series_.Expect(static_cast<int>(std::ranges::count(plan_.arms, true, &Arm::to_pilot)) - plan_.left_out, -1);
    Result<void> piloted = RunArmPilots(input_, contenders_, pilots, plan_, series_);
    if (!piloted) return piloted;
    if (!plan_.any_open()) return {};
    ShapePlan(plan_, input_.options, input_.options.budget_s - series_.spent_s());
    const std::vector<std::string> lines = plan_.Describe(series_.spent_s());
    report_.plan.insert(report_.plan.end(), lines.begin(), lines.end());
    series_.ShowPlan(lines);
    return {};
  }

  void EndAll(const std::string& why) {
    for (int arm = kAllArm + 1; arm < static_cast<int>(plan_.arms.size()); ++arm) {
      plan_.EndComparisons(arm, TrialVerdict::kInconclusive, why);
    }
  }

  void JudgeOnlyFix() {
    const Metric step_metric = StepMetric(CandidatesIn(contenders_));
    report_.noise = NoiseOf(whole_->plan, whole_->observed, step_metric);
    report_.trials = JudgeFixes(whole_->plan, whole_->observed, contenders_, input_.options.margin);
    if (!RecommendedSet(whole_->plan, report_.trials).empty()) report_.combined = WholeRow(step_metric);
  }

  void RunAndJudge() {
    // Even if the pilots predict fewer than the minimum of blocks, try: blocks may be quicker.
    const BlockRun run{.blocks = std::max(plan_.blocks, std::min(kFewestBlocks, input_.options.blocks)),
                       .seed = input_.options.seed,
                       .end_s = input_.options.budget_s,
                       .kept_back = plan_.fresh_blocks,
                       .same_work = SameWorkOf(CandidatesIn(contenders_)),
                       .baseline = whole_ && whole_->plan.window == plan_.window ? whole_->baseline() : std::nullopt};
    const Observations observed = RunBlocks(input_.options, run, plan_, series_);
    const Metric step_metric = run.same_work.step_metric;
    report_.trials = JudgeFixes(plan_, observed, contenders_, input_.options.margin);
    if (whole_ && whole_->with_first_fix()) PutFirstFix();
    report_.noise = NoiseOf(plan_, observed, step_metric);
    if (whole_ && !report_.noise.pair_sd_pct) report_.noise = NoiseOf(whole_->plan, whole_->observed, step_metric);
    Combine(step_metric, observed);
  }

  // Uses the first fix's result from the pairs, where it ran beside ALL.
  void PutFirstFix() {
    const auto first = std::ranges::find(plan_.comparisons, 0, &PlannedComparison::subject);
    report_.trials[first - plan_.comparisons.begin()] =
        JudgeFixes(whole_->PlanOfFirstFix(), whole_->observed, contenders_, input_.options.margin).front();
  }

  // The recommended set needs fresh launches only if it was selected: ALL was measured before anything was known about
  // each fix.
  void Combine(Metric step_metric, const Observations& observed) {
    const std::vector<int> members = Recommended(step_metric);
    const bool chosen = SettingsOf(members, contenders_) != plan_.arms[kAllArm].settings;
    const bool afresh = !whole_ || (chosen && !members.empty());
    if (afresh && !series_.stopped()) {
      report_.combined = MeasureRecommended(input_, plan_, members, contenders_, series_);
    }
    if (report_.combined && report_.combined->speedup) return;
    if (!whole_ && !chosen && !members.empty()) PutBlocksOfAll(observed, step_metric);
    if (!whole_) return;
    const std::string why_not = report_.combined ? report_.combined->reason : "interrupted";
    report_.combined = WholeRow(step_metric);
    if (afresh) {
      AddReason(report_.combined->reason, fmt::format("{} of them {} recommended, but not measured together: {}",
                                                      members.size(), members.size() == 1 ? "is" : "are", why_not));
    }
  }

  // ALL is a single fix, which the blocks compared with the baseline.
  void PutBlocksOfAll(const Observations& observed, Metric step_metric) {
    ExperimentPlan of_all = plan_;
    std::erase_if(of_all.comparisons, [](const PlannedComparison& one) {
      return one.arm != kAllArm || one.reference != kBaselineArm || !one.open();
    });
    if (of_all.comparisons.empty()) return;
    report_.combined = RowOf(MembersOfAll(), contenders_);
    AddMeasured(of_all, observed, step_metric, input_.options.margin, "blocks", *report_.combined);
  }

  std::vector<int> Recommended(Metric step_metric) const {
    const std::optional<CombinedRow> all = whole_ ? std::optional(WholeRow(step_metric)) : std::nullopt;
    const bool faster = all && all->ci95 && (*all->ci95)[0] > 1;
    return faster ? KeptOfAll(plan_, report_.trials, contenders_) : RecommendedSet(plan_, report_.trials);
  }

  CombinedRow WholeRow(Metric step_metric) const {
    CombinedRow row = RowOf(MembersOfAll(), contenders_);
    AddMeasured(whole_->plan, whole_->observed, step_metric, input_.options.margin, "pairs", row);
    return row;
  }

  std::vector<int> MembersOfAll() const {
    std::vector<int> members;
    for (int i = 0; i < static_cast<int>(contenders_.size()); ++i) {
      if (contenders_[i].together()) members.push_back(i);
    }
    return members;
  }

  const ExperimentInput& input_;
  LaunchSeries& series_;
  Report& report_;
  std::vector<Contender> contenders_;
  std::vector<TrialRow> aside_;
  ExperimentPlan plan_;
  std::optional<WholeSet> whole_;
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
