// How a gate judges pairs of launches: the sequential procedure of docs/measurement.md, without a clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/statistics/betting.h"

namespace loopscope {

struct GateLimits {
  double max_slowdown = 0.05;  // passes when the slowdown is surely below this
  double floor = 0.02;         // never fails for an estimate at or below this
  double fails_from = 100;     // evidence that it is slower: at most one false alarm in so many gates
  double passes_from = 20;     // evidence that it is slower by less than the limit: at most 5 % of those that are not
  int fewest_pairs = 5, most_pairs = 48;
};

// The limits for each of `workloads` gates in one call, so that any false alarm stays at 1 % over all of them.
GateLimits LimitsFor(int workloads, double max_slowdown);

enum class GateVerdict { kPass, kFail, kInconclusive };
std::string_view GateVerdictName(GateVerdict verdict);  // "pass", "fail", "inconclusive"

// For a slowdown, and for one under the limit (Bets::evidence).
struct GateEvidence {
  double slower = 1, under_limit = 1;
};

struct GateDecision {
  GateVerdict verdict = GateVerdict::kInconclusive;
  std::string reason = {};             // one sentence, with the figures
  double slowdown = 0;                 // T_B / T_A - 1, Hodges-Lehmann over all pairs
  std::optional<double> upper95 = {};  // of the slowdown, one-sided, whenever one looked; none with too few pairs
  int pairs = 0;
  std::vector<GateEvidence> evidence = {};  // after each pair
  double fails_from = 0, passes_from = 0;   // as in GateLimits
  double pair_sd = 0;                       // of ln(T_B / T_A)
  double detectable = 0;                    // the slowdown that fails in 80 % of gates at this noise; 0 unknown
};

// Takes the pairs one after another, d = ln(T_B / T_A). In this order: a slowdown that is sure fails, however noisy;
// one that is surely under the limit passes; else more pairs are needed, and with no more of them it is inconclusive.
class GateJudge {
 public:
  explicit GateJudge(const GateLimits& limits);

  void Add(double d);
  std::span<const double> pairs() const { return d_; }
  GateVerdict verdict() const;  // kInconclusive while undecided
  GateDecision Decide() const;

 private:
  bool Fails() const;

  GateLimits limits_;
  Bets slower_, under_limit_;
  std::vector<double> d_;
  std::vector<GateEvidence> evidence_;
};

// What a gate would see on a machine of known noise, by simulated gates (a fixed seed: the same answer each time).
struct GatePower {
  double fails = 0, passes = 0;  // shares of the gates
  double pairs = 0;              // mean
};

// For a program that is slower by `slowdown`; ln(T_B / T_A) is normal with standard deviation `pair_sd`. Accurate to
// about 2 points.
GatePower PowerOf(double pair_sd, double slowdown, const GateLimits& limits);

// The smallest slowdown that fails in 80 % of gates.
double DetectableSlowdown(double pair_sd, const GateLimits& limits);

// The smallest difference, on the log scale, that CompareByBets calls in 80 % of all cases when it is looked at after
// each of `pairs`; infinite where so few can decide nothing.
double DetectableByBets(double pair_sd, int pairs);

}  // namespace loopscope
