#include "profiler/core/report/reach.h"

#include <algorithm>
#include <cmath>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kOpen = HUGE_VAL;

// Bounds on ln(treated / baseline).
Bounds Known(const ReachPair& pair) {
  const double d = std::log(pair.treated.value / pair.baseline.value);
  if (pair.treated.censored && pair.baseline.censored) return {-kOpen, kOpen};
  if (pair.treated.censored) return {d, kOpen};
  if (pair.baseline.censored) return {-kOpen, d};
  return {d, d};
}

std::optional<double> Ratio(double log) {
  return std::isfinite(log) ? std::optional(std::exp(-log)) : std::nullopt;
}

}  // namespace

ReachEffect CompareReach(std::span<const ReachPair> pairs) {
  ReachEffect effect;
  effect.n = static_cast<int>(pairs.size());
  if (pairs.empty()) return effect;
  std::vector<double> low, high, limited;
  for (const ReachPair& pair : pairs) {
    const Bounds known = Known(pair);
    low.push_back(known.low);
    high.push_back(known.high);
    const bool both = pair.treated.censored && pair.baseline.censored;
    limited.push_back(both ? 0 : std::log(pair.treated.value / pair.baseline.value));
  }
  effect.p = SignedRankP(limited, Tail::kTwoSided);
  const double centre = HodgesLehmann(limited);
  effect.sign = centre < 0 ? 1 : centre > 0 ? -1 : 0;
  const double least = HodgesLehmann(low), most = HodgesLehmann(high);
  if (least == most) effect.ratio.estimate = Ratio(least);
  if (const auto bounds = SignedRankBounds(low, 0.95)) effect.ratio.high = Ratio(bounds->low);
  if (const auto bounds = SignedRankBounds(high, 0.95)) effect.ratio.low = Ratio(bounds->high);
  return effect;
}

std::optional<double> MedianReach(std::vector<Reach> runs) {
  std::ranges::sort(
      runs, [](const Reach& a, const Reach& b) { return a.censored != b.censored ? b.censored : a.value < b.value; });
  if (runs.empty()) return std::nullopt;
  const Reach& middle = runs[(runs.size() - 1) / 2];
  return middle.censored ? std::nullopt : std::optional(middle.value);
}

}  // namespace loopscope
