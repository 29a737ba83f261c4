#include "profiler/experiments/gate/procedure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/core/statistics/gate_decision.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr int kUsualPairs = 13;  // for an unchanged program at 5 % noise, in simulations
// Two-sided p of a drift within launches. kPossibly (all of five pairs, or nearly all of six to eight) only continues a
// gate. From kPairsForSure pairs on, which allow p = 2 / 2^9, a pass is revoked at kSurely only.
constexpr double kPossibly = 0.07, kSurely = 0.005;
constexpr std::size_t kPairsForSure = 9;
constexpr double kMuch = 0.25;  // a drift of both sides

class Gate {
 public:
  Gate(const PairsInput& input, const GateLimits& limits, PairPlan pairs, LaunchSeries& series)
      : input_(input), limits_(limits), pairs_(std::move(pairs)), series_(series) {}

  GatedPairs Run() {
    GateJudge judge(limits_);
    const auto decided = [&](const Observations& observed) {
      const std::vector<double> d = observed.Differences(pairs_.plan.comparisons.front(), Metric::kStepTime);
      while (judge.pairs().size() < d.size()) judge.Add(d[judge.pairs().size()]);
      if (judge.verdict() != GateVerdict::kPass) return judge.verdict() == GateVerdict::kFail;
      const std::vector<Drifts> drifts = DriftsOf(observed);
      return drifts.size() >= kPairsForSure || WhyUnsteady(drifts).empty();
    };
    const Observations observed =
        pairs_.Run(series_, limits_.most_pairs, input_.options.seed, input_.options.budget_s, decided);
    Note(observed);
    GateDecision decision = judge.Decide();
    if (decision.verdict == GateVerdict::kInconclusive && observed.blocks < limits_.most_pairs) {
      decision.reason +=
          ": " + (observed.ended_early.empty() ? "a longer --budget allows more pairs" : observed.ended_early);
    }
    const std::string why = WhyUnsteady(DriftsOf(observed));
    if (!why.empty() && decision.verdict == GateVerdict::kPass) {
      decision.verdict = GateVerdict::kInconclusive;
      decision.reason = why;
    }
    return {decision, std::move(launches_)};
  }

 private:
  using Drifts = std::array<double, 2>;  // of both sides of a pair: LaunchResult::step_drift

  void Note(const Observations& observed) {
    for (const Observation& row : observed.rows) {
      const LaunchResult& result = row.result;
      launches_.push_back({.block = row.block,
                           .order = row.order,
                           .arm = pairs_.plan.arms[row.arm].name,
                           .ms_per_step = result.ok() ? std::optional(result.ms_per_step) : std::nullopt,
                           .status = result.status.Text()});
    }
  }

  static std::vector<Drifts> DriftsOf(const Observations& observed) {
    std::map<int, std::array<std::optional<double>, 2>> by_pair;
    for (const Observation& row : observed.rows) {
      if (row.result.ok()) by_pair[row.block][row.arm] = row.result.step_drift;
    }
    std::vector<Drifts> drifts;
    for (const auto& [block, pair] : by_pair) {
      if (pair[0] && pair[1]) drifts.push_back({*pair[0], *pair[1]});
    }
    return drifts;
  }

  // Sides that drift alike can be compared: a slowdown is diluted by half of the drift. If only one side leaks or is
  // still warming up, or both drift a lot, there is no step time to compare.
  std::string WhyUnsteady(const std::vector<Drifts>& drifts) const {
    const double p = drifts.size() < kPairsForSure ? kPossibly : kSurely;
    std::vector<double> apart, alike;
    std::array<std::vector<double>, 2> own;
    for (const auto& [a, b] : drifts) {
      apart.push_back(b - a);
      alike.push_back((a + b) / 2);
      own[0].push_back(a);
      own[1].push_back(b);
    }
    if (IsDrift(apart, limits_.max_slowdown, p)) {
      const std::array<double, 2> drift{HodgesLehmann(own[0]), HodgesLehmann(own[1])};
      const std::size_t arm = std::abs(drift[1]) > std::abs(drift[0]) ? 1 : 0;
      return Unsteady(pairs_.plan.arms[arm].name, drift[arm]);
    }
    if (IsDrift(alike, std::max(kMuch, limits_.max_slowdown), p)) return Unsteady("the program", HodgesLehmann(alike));
    return "";
  }

  static bool IsDrift(const std::vector<double>& drifts, double least, double p) {
    return !drifts.empty() && std::abs(std::expm1(HodgesLehmann(drifts))) >= least &&
           SignedRankP(drifts, Tail::kTwoSided) <= p;
  }

  static std::string Unsteady(std::string_view name, double drift) {
    return fmt::format(
        "{} never reaches steady state: within each launch its steps get {:.0f} % {} from the first third to the "
        "last (try --warmup auto, or a longer --warmup)",
        name, std::abs(100 * std::expm1(drift)), drift > 0 ? "longer" : "shorter");
  }

  const PairsInput& input_;
  const GateLimits& limits_;
  PairPlan pairs_;
  LaunchSeries& series_;
  std::vector<LaunchRow> launches_;
};

std::string Identity(const PairsInput& input, const GateLimits& limits) {
  return fmt::format("{}|{}|{}|{}|{}", PairsIdentity("gate", input), limits.fails_from, limits.passes_from,
                     limits.floor, limits.most_pairs);
}

}  // namespace

Result<GatedPairs> RunGate(const PairsInput& input, const GateLimits& limits, const Launcher& launcher,
                           const ExperimentEvents& events, Report& report) {
  GatedPairs gated;
  const auto procedure = [&](LaunchSeries& series) -> Result<void> {
    PairsInput first = input;
    first.options.blocks = std::min(kUsualPairs, limits.most_pairs);
    Result<PairPlan> pairs = PlanPairs(first, series);
    if (!pairs) return pairs.error();
    report.plan = pairs->plan.Describe(series.spent_s());
    gated = Gate(first, limits, std::move(*pairs), series).Run();
    if (gated.decision.pairs > 1) gated.decision.detectable = DetectableSlowdown(gated.decision.pair_sd, limits);
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
