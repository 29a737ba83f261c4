#include "profiler/core/report/expected_gain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "profiler/core/report/report.h"

namespace loopscope {
namespace {

// Estimates, like the usual shares of bounds: taken from a few programs of tests/truth, not measured over
// many.
constexpr double kExactLow = 0.7, kExactHigh = 1.3;
constexpr double kMeasuredLow = 0.5, kMeasuredHigh = 1.5;

double StepMs(const Finding& finding) {
  return finding.cost_pct > 0 ? 100 * finding.cost_ms_per_step / finding.cost_pct : finding.cost_ms_per_step;
}

// Ranks a finding without a cost: the smallest share of the step with its severity.
double LeastPct(Severity severity) {
  constexpr std::array kLeast = {0.0, 1.0, 5.0, 20.0};
  return kLeast[static_cast<std::size_t>(severity)];
}

double RankPct(const Finding& finding) {
  const auto gain = ExpectedGainPctOf(finding);
  return gain ? gain->pct : LeastPct(finding.severity);
}

}  // namespace

std::string_view GainBasisName(GainBasis basis) {
  switch (basis) {
    case GainBasis::kWithout:
      return "none";
    case GainBasis::kMeasured:
      return "measured";
    case GainBasis::kExact:
      return "exact";
    case GainBasis::kLikely:
      return "likely";
    case GainBasis::kLeast:
      return "least";
  }
  return "none";
}

ExpectedGain ExpectedGainOf(const Finding& finding) {
  const double cost_ms = finding.cost_ms_per_step;
  if (finding.expected_gain_ms && std::isfinite(*finding.expected_gain_ms)) {
    const double ms = std::max(*finding.expected_gain_ms, 0.0);
    const double most_ms = std::max(finding.cost_is == CostKind::kBound ? cost_ms : StepMs(finding), ms);
    return {ms, kMeasuredLow * ms, std::min(kMeasuredHigh * ms, most_ms), GainBasis::kMeasured};
  }
  if (!std::isfinite(cost_ms) || cost_ms <= 0) return {};
  const double most_ms = std::max(StepMs(finding), cost_ms);
  switch (finding.cost_is) {
    case CostKind::kBound:
      return {finding.usual_share * cost_ms, 0, cost_ms, GainBasis::kLikely};
    case CostKind::kMeasured:
      return {cost_ms, kMeasuredLow * cost_ms, std::min(kMeasuredHigh * cost_ms, most_ms), GainBasis::kMeasured};
    case CostKind::kLeast:
      return {cost_ms, cost_ms, most_ms, GainBasis::kLeast};
    case CostKind::kExact:
      break;
  }
  return {cost_ms, kExactLow * cost_ms, std::min(kExactHigh * cost_ms, most_ms), GainBasis::kExact};
}

std::optional<ExpectedGainPct> ExpectedGainPctOf(const Finding& finding) {
  const ExpectedGain gain = ExpectedGainOf(finding);
  if (gain.basis == GainBasis::kWithout || !(finding.cost_ms_per_step > 0)) return std::nullopt;
  const double pct = finding.cost_pct / finding.cost_ms_per_step;
  return ExpectedGainPct{gain.ms * pct, gain.low_ms * pct, gain.high_ms * pct, gain.basis};
}

bool GainsMore(const Finding& finding, const Finding& other) {
  const bool info = finding.severity == Severity::kInfo, other_info = other.severity == Severity::kInfo;
  if (info != other_info) return other_info;
  const double pct = RankPct(finding), other_pct = RankPct(other);
  return pct != other_pct ? pct > other_pct : finding.severity > other.severity;
}

bool MeasuredWithoutGain(const Report& report, const Finding& finding) {
  bool without = false;
  if (finding.treatment_id.empty()) return false;
  for (const TrialRow& trial : report.trials) {
    if (trial.treatment != finding.treatment_id) continue;
    if (trial.verdict == TrialVerdict::kFaster || trial.verdict == TrialVerdict::kUseful) return false;
    without = without || trial.verdict == TrialVerdict::kSlower || trial.verdict == TrialVerdict::kEquivalent ||
              trial.verdict == TrialVerdict::kDropped;
  }
  return without;
}

}  // namespace loopscope
