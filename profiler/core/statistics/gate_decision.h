// How a gate judges pairs of launches: the two-stage procedure of docs/measurement.md, without a clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace loopscope {

// With both stages at 10 % an unchanged program fails in at most 0.10 x 0.10 = 1 % of all gates.
struct GateLimits {
  double max_slowdown = 0.05;  // passes when the slowdown is surely below this
  double floor = 0.02;         // never fails for an estimate at or below this
  double alpha = 0.10;         // of each stage, one-sided
  int first_pairs = 12, second_pairs = 20;
};

// The limits for each of `workloads` gates in one call, so that any false alarm stays at 1 % over all of them.
GateLimits LimitsFor(int workloads, double max_slowdown);

enum class GateVerdict { kPass, kFail, kInconclusive };
std::string_view GateVerdictName(GateVerdict verdict);  // "pass", "fail", "inconclusive"

struct GateDecision {
  GateVerdict verdict = GateVerdict::kInconclusive;
  std::string reason;              // one sentence, with the figures
  double slowdown = 0;             // T_B / T_A - 1, Hodges-Lehmann over all pairs
  std::optional<double> upper95;   // one-sided 95 % upper bound of the slowdown; none under 5 pairs
  int pairs = 0;                   // of both stages
  double p_first = 1;              // one-sided signed-rank p of "slower", stage 1
  std::optional<double> p_second;  // of stage 2 alone; none when it was not needed
  double pair_sd = 0;              // of ln(T_B / T_A)
  double detectable = 0;           // the slowdown that this many pairs with this noise detect with 80 % power
};

// Whether the first stage's pairs call for a second stage of fresh pairs. d = ln(T_B / T_A), one per pair.
bool AsksForSecondStage(std::span<const double> first, const GateLimits& limits);

// `second` is empty when no second stage was run. In this order: a slowdown that both stages show fails, however
// noisy; a slowdown that is surely under the limit passes; the rest is inconclusive.
GateDecision DecideGate(std::span<const double> first, std::span<const double> second, const GateLimits& limits);

}  // namespace loopscope
