#include "profiler/core/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace loopscope {
namespace {

// The null distribution of W by dynamic programming over ranks: each rank is in the sum with probability 1/2.
std::vector<double> SignedRankNull(int n) {
  std::vector<double> mass{1.0};
  mass.reserve(static_cast<std::size_t>(n) * (n + 1) / 2 + 1);
  for (int rank = 1; rank <= n; ++rank) {
    mass.resize(mass.size() + rank, 0.0);
    for (int w = static_cast<int>(mass.size()) - 1; w >= 0; --w) {
      mass[w] = 0.5 * mass[w] + (w >= rank ? 0.5 * mass[w - rank] : 0.0);
    }
  }
  return mass;
}

// How many Walsh averages may be cut off each end so that P(W <= cut - 1) <= tail. 0: not even one.
int CutOff(int n, double tail) {
  double below = 0;
  int cut = 0;
  for (const double mass : SignedRankNull(n)) {
    below += mass;
    if (below > tail * (1 + 1e-12)) break;
    ++cut;
  }
  return cut;
}

Effect ExactEffect(std::span<const double> d, double margin) {
  Effect effect{.method = Method::kExact, .n = static_cast<int>(d.size()), .estimate = HodgesLehmann(d)};
  effect.ci95 = SignedRankBounds(d, 0.95);
  effect.p = SignedRankP(d, Tail::kTwoSided);
  effect.p_equivalent = std::max(SignedRankP(d, Tail::kGreater, -margin), SignedRankP(d, Tail::kLess, margin));
  return effect;
}

// t of a difference that may have no spread at all: infinite, or 0 when there is no difference either.
double Studentized(double difference, double error) {
  if (error > 0) return difference / error;
  return difference == 0 ? 0 : std::copysign(HUGE_VAL, difference);
}

// An arm so much noisier than the others that their spread says nothing about its own.
constexpr double kUnlike = 4;

Effect StudentEffect(std::span<const double> d, const PooledSpread& spread, double margin) {
  Effect effect{.method = Method::kPooled, .n = static_cast<int>(d.size()), .estimate = Mean(d)};
  const double error = std::sqrt(spread.variance / effect.n);
  const double half = error > 0 ? StudentQuantile(0.975, spread.df) * error : 0;
  effect.ci95 = Bounds{effect.estimate - half, effect.estimate + half};
  effect.p = StudentP(Studentized(effect.estimate, error), spread.df, Tail::kTwoSided);
  effect.p_equivalent = std::max(StudentP(Studentized(effect.estimate + margin, error), spread.df, Tail::kGreater),
                                 StudentP(Studentized(effect.estimate - margin, error), spread.df, Tail::kLess));
  return effect;
}

Effect PooledEffect(std::span<const std::vector<double>> arms, std::size_t arm, const PooledSpread& spread,
                    double margin) {
  const std::vector<double>& d = arms[arm];
  Effect effect = StudentEffect(d, spread, margin);
  const double own = Variance(d), k = static_cast<double>(arms.size());
  const double others = (k * spread.variance - own) / std::max(k - 1, 1.0);
  if (arms.size() < 2 || own <= kUnlike * others) return effect;
  const Effect alone = StudentEffect(d, {own, static_cast<double>(d.size()) - 1}, margin);
  effect.ci95 = Bounds{std::min(effect.ci95->low, alone.ci95->low), std::max(effect.ci95->high, alone.ci95->high)};
  effect.p = std::max(effect.p, alone.p);
  effect.p_equivalent = std::max(effect.p_equivalent, alone.p_equivalent);
  return effect;
}

// Mean distance from the chosen to the rest, less the mean distance among the rest.
double Separation(std::span<const double> distance, int n, const std::vector<char>& chosen) {
  double across = 0, among = 0;
  int crossings = 0, pairs = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if (chosen[i] && chosen[j]) continue;
      const bool crossing = chosen[i] != chosen[j];
      (crossing ? across : among) += distance[static_cast<std::size_t>(i) * n + j];
      ++(crossing ? crossings : pairs);
    }
  }
  return across / crossings - among / pairs;
}

}  // namespace

double Mean(std::span<const double> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Variance(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::vector<double> WalshAverages(std::span<const double> d) {
  std::vector<double> averages;
  averages.reserve(d.size() * (d.size() + 1) / 2);
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t j = i; j < d.size(); ++j) averages.push_back(0.5 * (d[i] + d[j]));
  }
  std::ranges::sort(averages);
  return averages;
}

double HodgesLehmann(std::span<const double> d) {
  return Median(WalshAverages(d));
}

double SignedRankCdf(int n, int w) {
  if (w < 0) return 0;
  const std::vector<double> mass = SignedRankNull(n);
  const std::size_t count = std::min(mass.size(), static_cast<std::size_t>(w) + 1);
  return std::min(1.0, std::accumulate(mass.begin(), mass.begin() + static_cast<std::ptrdiff_t>(count), 0.0));
}

double BinomialTail(int trials, int hits, double chance) {
  if (chance >= 1) return hits <= trials ? 1 : 0;
  double tail = 0, term = std::pow(1 - chance, trials);  // P(no success), then of one more success each turn
  for (int k = 0; k <= trials; ++k) {
    if (k >= hits) tail += term;
    term *= chance / (1 - chance) * (trials - k) / (k + 1);
  }
  return std::min(tail, 1.0);
}

double SignedRankP(std::span<const double> d, Tail tail, double center) {
  int below = 0, above = 0;
  for (const double average : WalshAverages(d)) {
    below += average <= center;
    above += average >= center;
  }
  const int n = static_cast<int>(d.size());
  if (tail == Tail::kGreater) return SignedRankCdf(n, below);
  if (tail == Tail::kLess) return SignedRankCdf(n, above);
  return std::min(1.0, 2 * SignedRankCdf(n, std::min(below, above)));
}

std::optional<Bounds> SignedRankBounds(std::span<const double> d, double confidence) {
  const int cut = CutOff(static_cast<int>(d.size()), (1 - confidence) / 2);
  if (cut == 0) return std::nullopt;
  const std::vector<double> averages = WalshAverages(d);
  return Bounds{averages[cut - 1], averages[averages.size() - cut]};
}

std::optional<double> SignedRankUpper(std::span<const double> d, double confidence) {
  const int cut = CutOff(static_cast<int>(d.size()), 1 - confidence);
  if (cut == 0) return std::nullopt;
  const std::vector<double> averages = WalshAverages(d);
  return averages[averages.size() - cut];
}

double StudentQuantile(double probability, double df) {
  return boost::math::quantile(boost::math::students_t(df), probability);
}

double StudentP(double t, double df, Tail tail) {
  if (tail == Tail::kTwoSided) return std::min(1.0, 2 * StudentP(std::abs(t), df, Tail::kGreater));
  if (std::isinf(t)) return (t > 0) == (tail == Tail::kGreater) ? 0 : 1;
  const boost::math::students_t distribution(df);
  return tail == Tail::kLess ? boost::math::cdf(distribution, t)
                             : boost::math::cdf(boost::math::complement(distribution, t));
}

PooledSpread PoolWithinArms(std::span<const std::vector<double>> arms) {
  PooledSpread spread;
  if (arms.empty()) return spread;
  const double k = static_cast<double>(arms.size());
  const double n = static_cast<double>(arms.front().size());
  for (const std::vector<double>& d : arms) spread.variance += Variance(d) / k;
  spread.df = (n - 1) * k / (1 + (k - 1) / 4);
  return spread;
}

std::vector<Effect> CompareWithReference(std::span<const std::vector<double>> arms, double margin) {
  std::vector<Effect> effects;
  const PooledSpread spread = PoolWithinArms(arms);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const std::vector<double>& d = arms[arm];
    const int n = static_cast<int>(d.size());
    if (n >= kExactBlocks) {
      effects.push_back(ExactEffect(d, margin));
    } else if (n >= kFewestBlocks) {
      effects.push_back(PooledEffect(arms, arm, spread, margin));
    } else {
      effects.push_back({.method = Method::kTooFew, .n = n, .estimate = Mean(d)});
    }
  }
  return effects;
}

std::vector<double> Holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

double DetectableEffect(double pair_sd, int n, double df, double alpha) {
  if (n < 2 || df <= 0) return HUGE_VAL;
  return (StudentQuantile(1 - alpha / 2, df) + StudentQuantile(0.80, df)) * pair_sd / std::sqrt(n);
}

double PermutationP(std::span<const double> distance, int n, int treated) {
  std::vector<char> chosen(n, 0);
  std::fill_n(chosen.begin(), treated, 1);
  const double observed = Separation(distance, n, chosen);
  // Equal splits must count as equal whatever the order of summation.
  const double slack = 1e-9 * (1 + std::abs(observed));
  long as_far = 0, splits = 0;
  do {
    as_far += Separation(distance, n, chosen) >= observed - slack;
    ++splits;
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return static_cast<double>(as_far) / static_cast<double>(splits);
}

}  // namespace loopscope
