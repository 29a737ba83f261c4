#include "profiler/experiments/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "profiler/core/statistics/betting.h"
#include "profiler/core/statistics/gate_decision.h"

namespace loopscope {
namespace {

// What a comparison is judged by: the differences of its own metric.
struct Judgement {
  bool tried = false;  // in a block
  std::vector<double> d;
  Effect effect;
  double detectable = HUGE_VAL;  // on the log scale
  double p_holm = 1, p_equivalent_holm = 1;
};

// Arms share their spread where they share reference, metric and number of blocks.
using Family = std::tuple<int, Metric, std::size_t>;

std::vector<Effect> Compare(const ExperimentPlan& plan, std::span<const std::vector<double>> arms, double margin) {
  if (!plan.by_bets) return CompareWithReference(arms, margin);
  std::vector<Effect> effects;
  for (const std::vector<double>& d : arms) effects.push_back(CompareByBets(d, margin));
  return effects;
}

std::vector<Judgement> CompareAll(const ExperimentPlan& plan, const Observations& observed, Metric step_metric,
                                  double margin) {
  std::vector<Judgement> judgements(plan.comparisons.size());
  std::map<Family, std::vector<std::size_t>> families;
  for (std::size_t t = 0; t < plan.comparisons.size(); ++t) {
    const PlannedComparison& one = plan.comparisons[t];
    judgements[t].tried = one.open() || observed.Tried(one.arm);
    if (!one.open()) continue;
    const Metric metric = TimedMetric(one.metric, step_metric);
    judgements[t].d = observed.Differences(one, metric);
    families[{one.reference, metric, judgements[t].d.size()}].push_back(t);
  }
  for (const auto& [family, members] : families) {
    std::vector<std::vector<double>> arms;
    for (const std::size_t t : members) arms.push_back(judgements[t].d);
    const std::vector<Effect> effects = Compare(plan, arms, std::log1p(margin));
    const PooledSpread spread = PoolWithinArms(arms);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Judgement& one = judgements[members[i]];
      one.effect = effects[i];
      if (plan.by_bets) {
        one.detectable = DetectableByBets(std::sqrt(Variance(one.d)), effects[i].n);
        continue;
      }
      const bool exact = effects[i].method == Method::kExact;
      // At Holm's first step: detectable whatever the other comparisons show.
      const double alpha = 0.05 / static_cast<double>(std::ranges::count(judgements, true, &Judgement::tried));
      one.detectable = DetectableEffect(std::sqrt(exact ? Variance(one.d) : spread.variance), effects[i].n,
                                        exact ? effects[i].n - 1 : spread.df, alpha);
    }
  }
  return judgements;
}

void AdjustAll(std::vector<Judgement>& judgements) {
  std::vector<double> p, equivalent;
  for (const Judgement& one : judgements) {
    if (!one.tried) continue;
    p.push_back(one.effect.p);
    equivalent.push_back(one.effect.p_equivalent);
  }
  p = Holm(p);
  equivalent = Holm(equivalent);
  std::size_t t = 0;
  for (Judgement& one : judgements) {
    if (!one.tried) continue;
    one.p_holm = p[t];
    one.p_equivalent_holm = equivalent[t++];
  }
}

// exp(±d) so that more than 1 is better, in either context.
double Gain(const PlannedComparison& one, double d) {
  return std::exp(one.with_others ? d : -d);
}

void FillEffect(const PlannedComparison& one, const Judgement& judgement, TrialRow& row) {
  const Effect& effect = judgement.effect;
  row.n = effect.n;
  if (effect.n == 0) return;
  row.speedup = Gain(one, effect.estimate);
  row.method = MethodName(effect.method);
  if (!effect.ci95) return;
  const double a = Gain(one, effect.ci95->low), b = Gain(one, effect.ci95->high);
  row.ci95 = std::array{std::min(a, b), std::max(a, b)};
  row.p = effect.p;
  row.p_holm = judgement.p_holm;
  if (std::isfinite(judgement.detectable)) row.detectable_pct = Percent(judgement.detectable);
}

void SayByTime(const Judgement& judgement, const Observations& observed, TrialRow& row) {
  if (judgement.effect.method == Method::kTooFew) {
    row.verdict = TrialVerdict::kInconclusive;
    if (judgement.effect.n < observed.blocks && row.metric == "epoch-boundary") {
      AddReason(row.reason, "no epoch boundary in the window: a longer one is needed (--steps)");
    } else {
      AddReason(row.reason,
                fmt::format("under {} blocks no verdict is given ({} were run)", kFewestBlocks, judgement.effect.n));
    }
    return;
  }
  if (judgement.p_holm <= 0.05) {
    row.verdict = *row.speedup > 1 ? TrialVerdict::kFaster : TrialVerdict::kSlower;
  } else {
    row.verdict = judgement.p_equivalent_holm <= 0.05 ? TrialVerdict::kEquivalent : TrialVerdict::kInconclusive;
  }
}

void FillMemory(const PlannedComparison& one, const Observations& observed, TrialRow& row) {
  const double arm = Median(observed.Values(one.arm, &LaunchResult::peak_bytes));
  const double reference = Median(observed.Values(one.reference, &LaunchResult::peak_bytes));
  if (arm <= 0 || reference <= 0) return;
  row.peak_bytes_baseline = one.with_others ? arm : reference;
  row.peak_bytes_treated = one.with_others ? reference : arm;
}

// Loader start, compilation and the like: start-up without the warm-up's steps, treated minus untreated.
void FillOneTimeCost(const PlannedComparison& one, const ExperimentPlan& plan, const Observations& observed,
                     TrialRow& row) {
  const auto start_s = [&](int arm) {
    const double startup = Median(observed.Values(arm, &LaunchResult::startup_s));
    return startup - plan.window.warmup * Median(observed.Values(arm, &LaunchResult::ms_per_step)) / 1e3;
  };
  if (observed.Values(one.arm, &LaunchResult::startup_s).empty()) return;
  if (observed.Values(one.reference, &LaunchResult::startup_s).empty()) return;
  const double difference = start_s(one.arm) - start_s(one.reference);
  row.one_time_cost_s = one.with_others ? -difference : difference;
}

bool PeakFalls(const PlannedComparison& one, const Observations& observed, double* fall) {
  const std::vector<std::vector<double>> d{observed.Differences(one, Metric::kPeakMemory)};
  const Effect effect = CompareWithReference(d, 0)[0];
  const double gain = one.with_others ? effect.estimate : -effect.estimate;
  *fall = 1 - std::exp(-gain);
  if (effect.method == Method::kTooFew || !effect.ci95) return false;
  const double surely = one.with_others ? effect.ci95->low : -effect.ci95->high;
  return *fall >= kUsefulFall && surely > 0;
}

void SayByMemory(const PlannedComparison& one, const Observations& observed, TrialRow& row) {
  double fall = 0;
  const bool falls = PeakFalls(one, observed, &fall);
  if (!row.peak_bytes_treated) return AddReason(row.reason, "peak memory is unknown");
  AddReason(row.reason, fmt::format("peak memory {} by {:.1f} %", fall >= 0 ? "falls" : "rises", 100 * std::abs(fall)));
  if (!falls) return;
  if (row.verdict == TrialVerdict::kSlower) AddReason(row.reason, "the step is slower");
  row.verdict = TrialVerdict::kUseful;
}

void FillLaunches(const PlannedComparison& comparison, const ExperimentPlan& plan, const Observations& observed,
                  TrialRow& row) {
  for (const Observation& one : observed.rows) {
    if (one.arm != comparison.arm && one.arm != comparison.reference) continue;
    LaunchRow launch{one.block, one.order, plan.arms[one.arm].name, std::nullopt, one.result.status.Text()};
    if (one.result.ok()) launch.ms_per_step = one.result.ms_per_step;
    row.launches.push_back(std::move(launch));
  }
}

}  // namespace

std::vector<TrialRow> JudgeComparisons(const ExperimentPlan& plan, const Observations& observed,
                                       std::span<const TrialRow> subjects, Metric step_metric, double margin) {
  std::vector<Judgement> judgements = CompareAll(plan, observed, step_metric, margin);
  AdjustAll(judgements);
  std::vector<TrialRow> rows;
  for (std::size_t t = 0; t < plan.comparisons.size(); ++t) {
    const PlannedComparison& one = plan.comparisons[t];
    TrialRow row = subjects[one.subject];
    row.context = one.with_others ? "with-others" : "alone";
    if (one.metric == Metric::kStepTime) row.metric = MetricName(step_metric);
    row.margin_pct = 100 * margin;
    FillLaunches(one, plan, observed, row);
    FillMemory(one, observed, row);
    if (one.open()) {
      FillEffect(one, judgements[t], row);
      FillOneTimeCost(one, plan, observed, row);
      SayByTime(judgements[t], observed, row);
      if (one.metric == Metric::kPeakMemory) SayByMemory(one, observed, row);
      AddReason(row.reason, observed.ended_early);
    } else {
      row.verdict = one.verdict;
      AddReason(row.reason, one.reason);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

NoiseFacts NoiseOf(const ExperimentPlan& plan, const Observations& observed, Metric step_metric) {
  std::vector<std::vector<double>> arms;
  for (const int reference : {kAllArm, kBaselineArm}) {
    if (!arms.empty()) break;
    for (const PlannedComparison& one : plan.comparisons) {
      if (one.reference != reference || !one.open()) continue;
      arms.push_back(observed.Differences(one, step_metric));
    }
  }
  NoiseFacts noise;
  if (arms.empty() || arms.front().size() < 2) return noise;
  const PooledSpread spread = PoolWithinArms(arms);
  const int n = static_cast<int>(arms.front().size());
  noise.pair_sd_pct = 100 * std::sqrt(spread.variance);
  const double detectable = plan.by_bets ? DetectableByBets(std::sqrt(spread.variance), n)
                                         : DetectableEffect(std::sqrt(spread.variance), n, spread.df);
  if (std::isfinite(detectable)) noise.detectable_pct = Percent(detectable);
  return noise;
}

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kExact:
      return "exact";
    case Method::kPooled:
      return "pooled";
    case Method::kBets:
      return "bets";
    case Method::kTooFew:
      break;
  }
  return "";
}

void AddReason(std::string& reason, const std::string& more) {
  if (!more.empty()) reason += (reason.empty() ? "" : "; ") + more;
}

double Percent(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

Metric TimedMetric(Metric own, Metric step_metric) {
  return own == Metric::kEpochBoundary ? Metric::kEpochBoundary : step_metric;
}

}  // namespace loopscope
