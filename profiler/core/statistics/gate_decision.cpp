#include "profiler/core/statistics/gate_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kUpperEvidence = 20;  // of the bound of 95 %

double Slowdown(double log_ratio) {
  return std::expm1(log_ratio);
}

std::string Percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string ReasonOf(const GateDecision& decision, const GateLimits& limits) {
  const std::string upper = decision.upper95 ? Percent(*decision.upper95) : "unknown";
  switch (decision.verdict) {
    case GateVerdict::kFail:
      return fmt::format("slower by {} (at most {} with 95 % confidence), after {} pairs", Percent(decision.slowdown),
                         upper, decision.pairs);
    case GateVerdict::kPass:
      return fmt::format("with 95 % confidence slower by at most {}, which is under the limit of {}", upper,
                         Percent(limits.max_slowdown));
    case GateVerdict::kInconclusive:
      break;
  }
  if (decision.pairs < limits.fewest_pairs) {
    const std::string measured = decision.pairs == 0 ? "no" : std::to_string(decision.pairs);
    return fmt::format("{} pair{} measured, and fewer than {} decide nothing", measured,
                       decision.pairs <= 1 ? " was" : "s were", limits.fewest_pairs);
  }
  return fmt::format("too noisy to distinguish {} from none in {} pairs: the upper bound is {}",
                     Percent(limits.max_slowdown), decision.pairs, upper);
}

}  // namespace

GateLimits LimitsFor(int workloads, double max_slowdown) {
  GateLimits limits;
  limits.max_slowdown = max_slowdown;
  // A floor above the limit would pass slowdowns that the limit forbids.
  limits.floor = std::min(limits.floor, max_slowdown / 2);
  limits.fails_from *= std::max(1, workloads);
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

GateJudge::GateJudge(const GateLimits& limits)
    : limits_(limits), slower_(Bets::On::kAbove, 0), under_limit_(Bets::On::kBelow, std::log1p(limits.max_slowdown)) {}

void GateJudge::Add(double d) {
  d_.push_back(d);
  slower_.Add(d);
  under_limit_.Add(d);
  evidence_.push_back({slower_.evidence(), under_limit_.evidence()});
}

bool GateJudge::Fails() const {
  return slower_.evidence() >= limits_.fails_from && Slowdown(HodgesLehmann(d_)) > limits_.floor;
}

GateVerdict GateJudge::verdict() const {
  if (static_cast<int>(d_.size()) < limits_.fewest_pairs) return GateVerdict::kInconclusive;
  if (Fails()) return GateVerdict::kFail;
  return under_limit_.evidence() >= limits_.passes_from ? GateVerdict::kPass : GateVerdict::kInconclusive;
}

GateDecision GateJudge::Decide() const {
  GateDecision decision{.verdict = verdict(),
                        .pairs = static_cast<int>(d_.size()),
                        .evidence = evidence_,
                        .fails_from = limits_.fails_from,
                        .passes_from = limits_.passes_from};
  if (!d_.empty()) decision.slowdown = Slowdown(HodgesLehmann(d_));
  if (const auto upper = BetsUpper(d_, kUpperEvidence)) decision.upper95 = Slowdown(*upper);
  decision.pair_sd = std::sqrt(Variance(d_));
  decision.reason = ReasonOf(decision, limits_);
  return decision;
}

}  // namespace loopscope
