#include "profiler/core/statistics/gate_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kFalseAlarms = 0.01;  // of an unchanged program, over all workloads of one call

double Slowdown(double log_ratio) {
  return std::expm1(log_ratio);
}

std::string Percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

bool OverFloor(std::span<const double> d, const GateLimits& limits) {
  return Slowdown(HodgesLehmann(d)) > limits.floor;
}

bool Fails(const GateDecision& decision, const GateLimits& limits) {
  return decision.p_first <= limits.alpha && decision.p_second && *decision.p_second <= limits.alpha &&
         decision.slowdown > limits.floor;
}

void Judge(GateDecision& decision, const GateLimits& limits) {
  const std::string upper = decision.upper95 ? Percent(*decision.upper95) : "unknown";
  if (Fails(decision, limits)) {
    decision.verdict = GateVerdict::kFail;
    decision.reason = fmt::format("slower by {} (at most {} with 95 % confidence), in two stages of {} and {} pairs",
                                  Percent(decision.slowdown), upper, limits.first_pairs, limits.second_pairs);
  } else if (decision.upper95 && *decision.upper95 < limits.max_slowdown) {
    decision.verdict = GateVerdict::kPass;
    decision.reason = fmt::format("with 95 % confidence slower by at most {}, which is under the limit of {}", upper,
                                  Percent(limits.max_slowdown));
  } else {
    decision.verdict = GateVerdict::kInconclusive;
    decision.reason =
        fmt::format("too noisy to distinguish {} from none: {} pairs could show {}, the upper bound is {}",
                    Percent(limits.max_slowdown), decision.pairs, Percent(decision.detectable), upper);
  }
}

}  // namespace

GateLimits LimitsFor(int workloads, double max_slowdown) {
  GateLimits limits;
  limits.max_slowdown = max_slowdown;
  // A floor over the limit would let through what the limit forbids.
  limits.floor = std::min(limits.floor, max_slowdown / 2);
  limits.alpha = std::sqrt(kFalseAlarms / std::max(1, workloads));
  return limits;
}

std::string_view GateVerdictName(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kPass:
      return "pass";
    case GateVerdict::kFail:
      return "fail";
    case GateVerdict::kInconclusive:
      return "inconclusive";
  }
  return "";
}

bool AsksForSecondStage(std::span<const double> first, const GateLimits& limits) {
  return OverFloor(first, limits) && SignedRankP(first, Tail::kGreater) <= limits.alpha;
}

GateDecision DecideGate(std::span<const double> first, std::span<const double> second, const GateLimits& limits) {
  GateDecision decision;
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  decision.pairs = static_cast<int>(all.size());
  if (all.empty()) {
    decision.reason = "no pair was measured";
    return decision;
  }
  decision.slowdown = Slowdown(HodgesLehmann(all));
  if (const auto upper = SignedRankUpper(all, 0.95)) decision.upper95 = Slowdown(*upper);
  decision.p_first = SignedRankP(first, Tail::kGreater);
  if (!second.empty()) decision.p_second = SignedRankP(second, Tail::kGreater);
  decision.pair_sd = std::sqrt(Variance(all));
  if (decision.pairs > 1) {
    decision.detectable = Slowdown(DetectableEffect(decision.pair_sd, decision.pairs, decision.pairs - 1.0, 0.10));
  }
  Judge(decision, limits);
  return decision;
}

}  // namespace loopscope
