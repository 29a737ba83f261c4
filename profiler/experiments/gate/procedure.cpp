#include "profiler/experiments/gate/procedure.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/journaled.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

// Fewer differences have no one-sided 95 % bound.
constexpr int kFewestPairs = 5;
constexpr double kSurely = 0.01;  // p of the drift within launches

class Gate {
 public:
  Gate(const PairsInput& input, const GateLimits& limits, PairPlan pairs, LaunchSeries& series)
      : input_(input), limits_(limits), pairs_(std::move(pairs)), series_(series) {}

  GatedPairs Run() {
    const std::vector<double> first = Stage("pair", limits_.first_pairs, input_.options.seed);
    std::vector<double> second;
    const bool asked = ended_.empty() && AsksForSecondStage(first, limits_);
    if (asked) second = Stage("fresh pair", limits_.second_pairs, input_.options.seed + 1);
    GateDecision decision = DecideGate(first, second, limits_);
    const bool undecided = decision.verdict == GateVerdict::kInconclusive;
    if (decision.pairs < kFewestPairs) {
      decision.verdict = GateVerdict::kInconclusive;
      decision.reason =
          fmt::format("{} pairs were measured, and fewer than {} decide nothing", decision.pairs, kFewestPairs);
    } else if (asked && undecided && !ended_.empty()) {
      decision.reason = fmt::format("the first stage saw a slowdown of {:.1f} %, and the second had {} of {} pairs",
                                    100 * decision.slowdown, second.size(), limits_.second_pairs);
    }
    if (!ended_.empty() && decision.verdict == GateVerdict::kInconclusive) decision.reason += ": " + ended_;
    if (const std::string why = WhyUnsteady(); !why.empty() && decision.verdict == GateVerdict::kPass) {
      decision.verdict = GateVerdict::kInconclusive;
      decision.reason = why;
    }
    return {decision, std::move(launches_)};
  }

 private:
  std::vector<double> Stage(const std::string& name, int pairs, std::uint64_t seed) {
    series_.Expect(2 * pairs, pairs * pairs_.plan.block_s);
    const Observations observed = pairs_.Run(series_, name, pairs, seed, input_.options.budget_s);
    if (observed.blocks < pairs) {
      ended_ = !observed.ended_early.empty() ? observed.ended_early : "a longer --budget allows more pairs";
    }
    Note(observed);
    return observed.Differences(pairs_.plan.comparisons.front(), Metric::kStepTime);
  }

  void Note(const Observations& observed) {
    for (const Observation& row : observed.rows) {
      const LaunchResult& result = row.result;
      launches_.push_back({.block = pairs_seen_ + row.block,
                           .order = row.order,
                           .arm = pairs_.plan.arms[row.arm].name,
                           .ms_per_step = result.ok() ? std::optional(result.ms_per_step) : std::nullopt,
                           .status = result.status.Text()});
      if (result.ok()) drifts_[row.arm].push_back(result.step_drift);
    }
    pairs_seen_ += observed.blocks;
  }

  // A launch that is still warming up, or that leaks, has no step time to compare.
  std::string WhyUnsteady() const {
    for (std::size_t arm = 0; arm < drifts_.size(); ++arm) {
      const double drift = HodgesLehmann(drifts_[arm]);
      if (std::abs(std::expm1(drift)) < limits_.max_slowdown || SignedRankP(drifts_[arm], Tail::kTwoSided) > kSurely) {
        continue;
      }
      return fmt::format(
          "{} never reaches steady state: within each launch its steps get {:.0f} % {} from the first third to the "
          "last "
          "(try --warmup auto, or a longer --warmup)",
          pairs_.plan.arms[arm].name, std::abs(100 * std::expm1(drift)), drift > 0 ? "longer" : "shorter");
    }
    return "";
  }

  const PairsInput& input_;
  const GateLimits& limits_;
  PairPlan pairs_;
  LaunchSeries& series_;
  std::string ended_;  // why there were fewer pairs than planned
  std::vector<LaunchRow> launches_;
  std::array<std::vector<double>, 2> drifts_;  // of the launches of each side: LaunchResult::step_drift
  int pairs_seen_ = 0;
};

std::string Identity(const PairsInput& input, const GateLimits& limits) {
  return fmt::format("{}|{}|{}|{}|{}", PairsIdentity("gate", input), limits.alpha, limits.floor, limits.first_pairs,
                     limits.second_pairs);
}

}  // namespace

Result<GatedPairs> RunGate(const PairsInput& input, const GateLimits& limits, const Launcher& launcher,
                           const ExperimentEvents& events, Report& report) {
  GatedPairs gated;
  const auto procedure = [&](LaunchSeries& series) -> Result<void> {
    PairsInput first = input;
    first.options.blocks = limits.first_pairs;
    Result<PairPlan> pairs = PlanPairs(first, series);
    if (!pairs) return pairs.error();
    report.plan = pairs->plan.Describe(series.spent_s());
    gated = Gate(first, limits, std::move(*pairs), series).Run();
    report.noise.pair_sd_pct = Percent(gated.decision.pair_sd);
    report.noise.detectable_pct = 100 * gated.decision.detectable;
    return series.stopped() ? Result<void>(Interrupted()) : Result<void>();
  };
  const Result<void> done =
      RunJournaled(Identity(input, limits), input.journal, input.options, launcher, events, report, procedure);
  if (!done) return done.error();
  return gated;
}

}  // namespace loopscope
