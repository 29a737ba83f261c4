#include "profiler/core/statistics/settling.h"

#include <cstddef>
#include <numeric>
#include <vector>

namespace loopscope {
namespace {

constexpr std::size_t kBatch = 5;

std::vector<double> BatchMeans(std::span<const double> steps) {
  std::vector<double> means;
  for (std::size_t at = 0; at + kBatch <= steps.size(); at += kBatch) {
    const auto batch = steps.subspan(at, kBatch);
    means.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch);
  }
  return means;
}

// The squared standard error of the mean, up to a factor.
double SquaredError(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n * n);
}

}  // namespace

int SettledAfter(std::span<const double> steps) {
  const std::vector<double> means = BatchMeans(steps);
  const std::span<const double> all(means);
  std::size_t best = 0;
  for (std::size_t cut = 1; cut <= means.size() / 2; ++cut) {
    if (SquaredError(all.subspan(cut)) < SquaredError(all.subspan(best))) best = cut;
  }
  return static_cast<int>(best * kBatch);
}

}  // namespace loopscope
