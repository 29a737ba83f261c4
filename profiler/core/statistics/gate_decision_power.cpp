#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/core/statistics/gate_decision.h"

namespace loopscope {
namespace {

constexpr int kGates = 400;
constexpr double kWanted = 0.8;  // of the gates
constexpr double kMostLog = 3;   // no slowdown is looked for beyond twenty times
constexpr int kPowerHalvings = 10;

}  // namespace

GatePower PowerOf(double pair_sd, double slowdown, const GateLimits& limits) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> difference(std::log1p(slowdown), std::max(pair_sd, 1e-9));
  GatePower power;
  for (int gate = 0; gate < kGates; ++gate) {
    GateJudge judge(limits);
    int pairs = 0;
    while (pairs < limits.most_pairs && judge.verdict() == GateVerdict::kInconclusive) {
      judge.Add(difference(random));
      ++pairs;
    }
    power.fails += judge.verdict() == GateVerdict::kFail;
    power.passes += judge.verdict() == GateVerdict::kPass;
    power.pairs += pairs;
  }
  return {power.fails / kGates, power.passes / kGates, power.pairs / kGates};
}

double DetectableSlowdown(double pair_sd, const GateLimits& limits) {
  double low = 0, high = kMostLog;
  for (int i = 0; i < kPowerHalvings; ++i) {
    const double middle = (low + high) / 2;
    (PowerOf(pair_sd, std::expm1(middle), limits).fails < kWanted ? low : high) = middle;
  }
  return std::expm1(high);
}

double DetectableByBets(double pair_sd, int pairs) {
  if (pairs < kClearPairs) return HUGE_VAL;
  const GateLimits limits{
      .floor = 0, .fails_from = kEachSide95, .passes_from = HUGE_VAL, .fewest_pairs = kClearPairs, .most_pairs = pairs};
  return std::log1p(DetectableSlowdown(pair_sd, limits));
}

}  // namespace loopscope
