#include "profiler/experiments/target/procedure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/core/printable.h"
#include "profiler/core/statistics/shuffle.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/target/verdicts.h"

namespace loopscope {
namespace {

constexpr LaunchWindow kShort{.warmup = 1, .steps = 5};  // of the launches that show whether a treatment applies

std::string Identity(const ToTargetInput& input) {
  std::string text =
      fmt::format("target|{}|{}|{}|{}|{}", fmt::join(input.command, "\x1f"), OptionsText(input.options, ""),
                  TargetText(input.watch.target), input.watch.regex, input.limit_s);
  for (const Candidate& candidate : input.candidates) text += "|" + candidate.Setting();
  return text;
}

class ToTarget {
 public:
  ToTarget(const ToTargetInput& input, LaunchSeries& series, Report& report)
      : input_(input), series_(series), report_(report), random_(input.options.seed) {
    arms_.push_back({.name = "baseline"});
    for (const Candidate& candidate : input.candidates)
      arms_.push_back({.name = candidate.Setting(), .settings = {candidate.KeyAndValue()}});
  }

  Result<void> Run() {
    const Target& target = input_.watch.target;
    report_.plan = {
        fmt::format("{} by the time to {}", fmt::join(Names(), ", "), TargetText(target)),
        fmt::format(
            "one short launch of each first, then up to {} seeds, each with every arm in random order; a run is "
            "ended after {:.0f} s, all of them within {:.0f} s",
            input_.options.blocks, input_.limit_s, input_.options.budget_s)};
    series_.ShowPlan(report_.plan);
    series_.Expect(static_cast<int>(arms_.size()), -1);
    if (const auto piloted = RunPilots(); !piloted) return piloted;
    if (const auto ran = RunSeeds(); !ran) return ran;
    JudgeTargets(input_.candidates, blocks_, ended_, arms_, report_);
    report_.target->target = target;
    report_.target->source = input_.watch.regex.empty() ? "marks" : "output";
    report_.target->limit_s = input_.limit_s;
    return {};
  }

 private:
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const ReachArm& arm : arms_) names.push_back(arm.name);
    return names;
  }

  LaunchSpec Spec(const ReachArm& arm, std::string label) const {
    LaunchSpec spec = SpecOf(input_.options, "", kShort, std::move(label));
    spec.treatment = arm.settings;
    return spec;
  }

  Result<void> RunPilots() {
    for (ReachArm& arm : arms_) {
      const LaunchResult result = series_.Insist(Spec(arm, "pilot, " + arm.name));
      const bool baseline = arm.settings.empty();
      if (series_.stopped()) return Interrupted();
      if (baseline && !result.ok()) return CommandFailed(ShellQuoted(input_.command), result);
      if (baseline) continue;
      const std::string& key = arm.settings.front().first;
      arm.applied = AppliedUnder(key, result.applied);
      if (!result.ok()) {
        arm.verdict = TrialVerdict::kFailed;
        arm.reason = FailureOf(result);
      } else if (const std::string why = WhyNotApplied(key, result.applied); !why.empty()) {
        arm.verdict = TrialVerdict::kNotApplicable;
        arm.reason = why;
      }
    }
    return {};
  }

  Result<void> RunSeeds() {
    if (std::ranges::none_of(arms_.begin() + 1, arms_.end(), &ReachArm::alive)) return {};
    double block_s = 0;
    while (blocks_ < input_.options.blocks) {
      if (blocks_ > 0 && series_.spent_s() + block_s > input_.options.budget_s) {
        ended_ = fmt::format("the budget held {} of {} seeds", blocks_, input_.options.blocks);
        break;
      }
      const double before_s = series_.spent_s();
      if (!RunSeed()) {
        if (blocks_ == 0 && ended_.empty()) return Interrupted();
        break;
      }
      block_s = series_.spent_s() - before_s;
      if (++blocks_ == 1) {
        if (const auto seen = CheckFirst(); !seen) return seen;
      }
    }
    return {};
  }

  // Launches every arm once with the same seed; false if interrupted: then nothing of it is kept.
  bool RunSeed() {
    std::vector<std::size_t> order;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (arms_[arm].alive()) order.push_back(arm);
    }
    Shuffle(order, random_);
    const int left = input_.options.blocks - blocks_;
    series_.Expect(left * static_cast<int>(order.size()), -1);
    std::vector<std::pair<std::size_t, LaunchResult>> runs;
    for (const std::size_t arm : order) {
      runs.emplace_back(arm, Train(arm));
      if (series_.stopped()) return false;
      if (runs.back().second.ok()) continue;
      const std::string why = fmt::format("with seed {}: {}", blocks_ + 1, FailureOf(runs.back().second));
      if (arm == 0) {
        ended_ = "the baseline failed " + why;
        return false;
      }
      arms_[arm].verdict = TrialVerdict::kFailed;
      arms_[arm].reason = why;
    }
    for (auto& [arm, result] : runs) {
      if (result.ok()) arms_[arm].runs.push_back(RunOf(result));
    }
    return true;
  }

  LaunchResult Train(std::size_t arm) {
    LaunchSpec spec =
        Spec(arms_[arm], fmt::format("seed {} of {}, {}", blocks_ + 1, input_.options.blocks, arms_[arm].name));
    spec.steps = 0;  // to its own end
    if (spec.seed) *spec.seed += static_cast<std::uint64_t>(blocks_);
    spec.target = input_.watch;
    spec.timeout_s = input_.limit_s;
    return series_.Insist(spec);
  }

  TargetRun RunOf(const LaunchResult& result) const {
    TargetRun run;
    run.block = blocks_;
    run.reached = result.target_s && *result.target_s <= input_.limit_s;
    run.seconds = run.reached ? *result.target_s : input_.limit_s;
    if (result.steps_seen > 0) run.steps = result.steps_seen;
    if (result.samples_seen > 0) run.samples = result.samples_seen;
    run.last = result.best_metric;
    const bool at_limit = result.wall_s >= input_.limit_s;
    run.status = run.reached ? "reached" : at_limit ? "not within the limit" : "ended without it";
    return run;
  }

  // Reports what cannot be judged after the first seed, not after all of them.
  Result<void> CheckFirst() const {
    const Target& target = input_.watch.target;
    const std::string command = ShellQuoted(input_.command);
    std::optional<double> best;
    bool reached = false;
    for (const ReachArm& arm : arms_) {
      for (const TargetRun& run : arm.runs) {
        reached = reached || run.reached;
        if (run.last && (!best || (target.at_least ? *run.last > *best : *run.last < *best))) best = run.last;
      }
    }
    if (reached) return {};
    if (!best) {
      return Error{input_.watch.regex.empty()
                       ? fmt::format("the program gave no metric named {}", target.metric)
                       : fmt::format("nothing that the program printed matched '{}' with a number", input_.watch.regex),
                   command,
                   fmt::format("call loopscope::Metric(\"{0}\", …) (probes/loopscope.h), or say what it prints: "
                               "--metric-regex '{0}[ =:]+([0-9.]+)'; --time {1:.0f}s was allowed",
                               target.metric, input_.limit_s),
                   3};
    }
    return Error{
        fmt::format("no arm came to {} with the first seed: the best was {:.4g}", TargetText(target), *best), command,
        fmt::format("choose a target that is reached, or allow more than {:.0f} s: --time", input_.limit_s), 3};
  }

  const ToTargetInput& input_;
  LaunchSeries& series_;
  Report& report_;
  std::mt19937_64 random_;
  std::vector<ReachArm> arms_;  // the baseline, then the candidates
  int blocks_ = 0;
  std::string ended_;
};

}  // namespace

Result<void> RunToTarget(const ToTargetInput& input, const Launcher& launcher, const ExperimentEvents& events,
                         Report& report) {
  return RunJournaled(Identity(input), input.journal, input.options, launcher, events, report,
                      [&](LaunchSeries& series) { return ToTarget(input, series, report).Run(); });
}

}  // namespace loopscope
