#include "profiler/experiments/decided.h"

#include <algorithm>
#include <cmath>

#include "profiler/core/statistics/betting.h"

namespace loopscope {
namespace {

constexpr double kSurely = 0.05;

}  // namespace

bool IsDecided(std::span<const double> d, double margin) {
  if (static_cast<int>(d.size()) < kClearPairs) return false;
  const Effect effect = CompareByBets(d, std::log1p(margin));
  return std::min(effect.p, effect.p_equivalent) <= kSurely;
}

}  // namespace loopscope
