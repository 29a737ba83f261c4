#include "profiler/experiments/prove/same_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kWithinRounding = 0.25, kDifferent = 0.5;  // of the baseline's fall
constexpr std::size_t kFewestLosses = 8;                    // two in each quarter
constexpr char kOtherDraws[] =
    "cannot tell: the same samples are drawn, but the program does not fix each sample's random numbers";

LossFacts FactsOf(const std::vector<double>& baseline, const std::vector<double>& treated) {
  LossFacts facts{.baseline = baseline, .treated = treated, .max_difference = {}, .verdict = {}};
  double largest = 0;
  for (std::size_t i = 0; i < std::min(baseline.size(), treated.size()); ++i) {
    const double difference = std::abs(baseline[i] - treated[i]);
    if (!std::isfinite(difference)) return facts;
    largest = std::max(largest, difference);
  }
  if (!baseline.empty() && !treated.empty()) facts.max_difference = largest;
  return facts;
}

LossFacts Say(LossFacts facts, std::string verdict) {
  facts.verdict = std::move(verdict);
  return facts;
}

// What keeps two curves from being compared at all; empty when nothing does.
std::string NotComparable(const LaunchResult& baseline, const LaunchResult& treated) {
  for (const LaunchResult* launch : {&baseline, &treated}) {
    if (!launch->ok()) return fmt::format("cannot tell: a check launch ended with {}", launch->status);
    if (launch->losses.empty()) return "cannot tell: no losses were seen";
  }
  if (baseline.losses.size() != treated.losses.size()) {
    return fmt::format("different: {} losses against {}", treated.losses.size(), baseline.losses.size());
  }
  return "";
}

bool AllEqual(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double one) { return one == values.front(); });
}

struct Fall {
  double size = 0, error = 0;  // mean of the first quarter less mean of the last, and its standard error
};

Fall FallOf(std::span<const double> losses) {
  const std::size_t quarter = losses.size() / 4;
  const auto first = losses.first(quarter), last = losses.last(quarter);
  return {Mean(first) - Mean(last), std::sqrt((Variance(first) + Variance(last)) / static_cast<double>(quarter))};
}

std::string NumericVerdict(std::span<const double> baseline, std::span<const double> treated) {
  const auto finite = [](double loss) { return std::isfinite(loss); };
  if (!std::ranges::all_of(baseline, finite)) return "cannot tell: the untreated loss is not finite";
  if (!std::ranges::all_of(treated, finite)) return "different: the loss is no longer finite";
  if (AllEqual(treated) && !AllEqual(baseline)) return "different: the loss no longer moves";
  if (baseline.size() < kFewestLosses) return fmt::format("cannot tell: only {} losses were seen", baseline.size());
  const Fall fall = FallOf(baseline);
  if (fall.size <= 2 * fall.error) {
    return fmt::format("cannot tell: the untreated loss does not fall clearly in {} steps", baseline.size());
  }
  double gap = 0;
  for (std::size_t i = 0; i < baseline.size(); ++i) gap += std::abs(treated[i] - baseline[i]);
  gap /= static_cast<double>(baseline.size()) * fall.size;
  const std::size_t quarter = baseline.size() / 4;
  const double end_gap = std::abs(Mean(treated.last(quarter)) - Mean(baseline.last(quarter))) / fall.size;
  const double share = FallOf(treated).size / fall.size;
  if (share < kDifferent)
    return fmt::format("different: the loss falls by {:.0f} % of the untreated fall", 100 * share);
  const double worst = std::max(gap, end_gap);
  if (worst > kDifferent) return fmt::format("different: the curves are {:.0f} % of the fall apart", 100 * worst);
  if (worst > kWithinRounding)
    return fmt::format("cannot tell: the curves are {:.0f} % of the fall apart", 100 * worst);
  return "within rounding";
}

double Distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

bool IsDifferent(const LossFacts& facts) {
  return facts.verdict.starts_with("different");
}
bool CannotTell(const LossFacts& facts) {
  return facts.verdict.starts_with("cannot tell");
}
bool OnlyDrawsDiffer(const LossFacts& facts) {
  return facts.verdict.starts_with(kOtherDraws);
}

bool BitIdentical(std::span<const double> a, std::span<const double> b) {
  return !a.empty() &&
         std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>, std::bit_cast<std::uint64_t, double>);
}

LossFacts JudgeExact(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const std::string why = NotComparable(baseline, treated); !why.empty()) return Say(std::move(facts), why);
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), "bit-identical");
  return Say(std::move(facts), "different: the losses should be the same bit for bit");
}

LossFacts JudgeResampled(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const std::string why = NotComparable(baseline, treated); !why.empty()) return Say(std::move(facts), why);
  // A loader that runs ahead has drawn more batches by the end: what both drew is compared.
  const std::size_t drawn = std::min(baseline.sample_hashes.size(), treated.sample_hashes.size());
  if (drawn == 0) return Say(std::move(facts), "cannot tell: the samples that were drawn were not seen");
  if (!std::equal(baseline.sample_hashes.begin(), baseline.sample_hashes.begin() + static_cast<std::ptrdiff_t>(drawn),
                  treated.sample_hashes.begin())) {
    return Say(std::move(facts), "different: other samples are drawn");
  }
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), "same samples");
  if (AllEqual(treated.losses) && !AllEqual(baseline.losses)) {
    return Say(std::move(facts), "different: the loss no longer moves");
  }
  return Say(std::move(facts), kOtherDraws);
}

LossFacts JudgeNumeric(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const std::string why = NotComparable(baseline, treated); !why.empty()) return Say(std::move(facts), why);
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), "bit-identical");
  return Say(std::move(facts), NumericVerdict(baseline.losses, treated.losses));
}

int TreatedCurvesFor(double alpha) {
  double splits = 1;
  int curves = 0;
  while (1 / splits > alpha && curves < 12) {
    ++curves;
    splits *= static_cast<double>(kSpreadBaselines + curves) / curves;
  }
  return curves;
}

LossFacts JudgeAgainstSpread(std::span<const LaunchResult> baselines, std::span<const LaunchResult> treated,
                             double alpha) {
  LossFacts facts = FactsOf(baselines.front().losses, treated.front().losses);
  std::vector<const std::vector<double>*> curves;
  for (const auto& group : {treated, baselines}) {
    for (const LaunchResult& launch : group) {
      if (const std::string why = NotComparable(baselines.front(), launch); !why.empty()) {
        return Say(std::move(facts), why);
      }
      curves.push_back(&launch.losses);
    }
  }
  if (baselines.size() < kSpreadBaselines) {
    return Say(std::move(facts), "cannot tell: the losses of untreated launches differ from one another");
  }
  std::vector<double> distance;
  for (const auto* a : curves) {
    for (const auto* b : curves) distance.push_back(Distance(*a, *b));
  }
  const auto finite = [](const LaunchResult& launch) {
    return std::ranges::all_of(launch.losses, [](double loss) { return std::isfinite(loss); });
  };
  if (!std::ranges::all_of(baselines, finite)) {
    return Say(std::move(facts), "cannot tell: the untreated loss is not finite");
  }
  if (!std::ranges::all_of(treated, finite)) return Say(std::move(facts), "different: the loss is no longer finite");
  const double p = PermutationP(distance, static_cast<int>(curves.size()), static_cast<int>(treated.size()));
  if (p <= alpha) {
    return Say(std::move(facts), fmt::format("different: outside the spread of untreated launches (p={:.2g})", p));
  }
  return Say(std::move(facts), "within the baseline's own spread");
}

}  // namespace loopscope
