#include "profiler/core/statistics/betting.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace loopscope {
namespace {

// Large bets grow fastest where pairs hardly differ; where pairs differ by half, all but the small ones are lost at
// once.
constexpr std::array<double, Bets::kSizes> kBetSizes = {1, 2, 4, 8, 11.3, 16, 22.6, 32, 45.3, 64, 90.5, 128};
// The n-th size gets n / kShares of the capital. Pairs rarely differ by more than a tenth, and an effect of that size
// is then clear one pair sooner than with equal shares.
constexpr double kShares = Bets::kSizes * (Bets::kSizes + 1) / 2.0;
constexpr double kBeyond = 1;  // far outside the observed values: each bet wins the maximum
constexpr int kHalvings = 60;

double Evidence(std::span<const double> d, Bets::On side, double center) {
  Bets bets(side, center);
  for (const double one : d) bets.Add(one);
  return bets.evidence();
}

double EvidenceBelow(std::span<const double> d, double center) {
  return Evidence(d, Bets::On::kBelow, center);
}

// Ville's inequality: p is at most 1 / evidence.
double PFrom(double evidence) {
  return std::min(1.0, 1 / evidence);
}

}  // namespace

Bets::Bets(On side, double center) : sign_(side == On::kAbove ? 1 : -1), center_(center) {
  capital_.fill(1);
}

void Bets::Add(double d) {
  for (std::size_t i = 0; i < kBetSizes.size(); ++i) capital_[i] *= 1 + std::tanh(kBetSizes[i] * sign_ * (d - center_));
}

double Bets::evidence() const {
  double sum = 0;
  for (std::size_t i = 0; i < capital_.size(); ++i) sum += static_cast<double>(i + 1) * capital_[i];
  return sum / kShares;
}

std::optional<double> BetsUpper(std::span<const double> d, double evidence) {
  if (d.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(d);
  double low = least - kBeyond, high = most + kBeyond;
  if (EvidenceBelow(d, high) < evidence) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (EvidenceBelow(d, middle) < evidence ? low : high) = middle;
  }
  return high;
}

Effect CompareByBets(std::span<const double> d, double margin) {
  if (d.empty()) return {};
  Effect effect{.method = Method::kBets, .n = static_cast<int>(d.size()), .estimate = HodgesLehmann(d)};
  const double differs = std::max(Evidence(d, Bets::On::kAbove, 0), EvidenceBelow(d, 0));
  effect.p = PFrom(differs / 2);
  effect.p_equivalent = PFrom(std::min(EvidenceBelow(d, margin), Evidence(d, Bets::On::kAbove, -margin)));
  std::vector<double> mirrored(d.begin(), d.end());
  for (double& one : mirrored) one = -one;
  const std::optional<double> high = BetsUpper(d, kEachSide95), low = BetsUpper(mirrored, kEachSide95);
  if (high && low) effect.ci95 = Bounds{-*low, *high};
  return effect;
}

}  // namespace loopscope
