#include "profiler/experiments/prove/same_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr double kWithinRounding = 0.25, kDifferent = 0.5;  // of the baseline's fall
constexpr std::size_t kFewestLosses = 8;                    // two in each quarter

LossFacts FactsOf(const std::vector<double>& baseline, const std::vector<double>& treated) {
  LossFacts facts{.baseline = baseline, .treated = treated};
  double largest = 0;
  for (std::size_t i = 0; i < std::min(baseline.size(), treated.size()); ++i) {
    const double difference = std::abs(baseline[i] - treated[i]);
    if (!std::isfinite(difference)) return facts;
    largest = std::max(largest, difference);
  }
  if (!baseline.empty() && !treated.empty()) facts.max_difference = largest;
  return facts;
}

struct LossCall {
  LossVerdict verdict = LossVerdict::kUnjudged;
  std::string detail = {};
};

LossCall Different(std::string detail) {
  return {LossVerdict::kDifferent, std::move(detail)};
}

LossCall Untold(std::string why) {
  return {LossVerdict::kCannotTell, std::move(why)};
}

LossFacts Say(LossFacts facts, LossCall call) {
  facts.verdict = call.verdict;
  facts.detail = std::move(call.detail);
  return facts;
}

// Why two curves cannot be compared; empty if they can.
std::optional<LossCall> NotComparable(const LaunchResult& baseline, const LaunchResult& treated) {
  for (const LaunchResult* launch : {&baseline, &treated}) {
    if (!launch->ok()) return Untold(fmt::format("a check launch ended with {}", launch->status.Text()));
    if (launch->losses.empty()) return Untold("no losses were seen");
  }
  if (baseline.losses.size() != treated.losses.size()) {
    return Different(fmt::format("{} losses against {}", treated.losses.size(), baseline.losses.size()));
  }
  return std::nullopt;
}

bool AllEqual(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double one) { return one == values.front(); });
}

struct Fall {
  double size = 0, error = 0;  // mean of the first quarter minus mean of the last, and its standard error
};

Fall FallOf(std::span<const double> losses) {
  const std::size_t quarter = losses.size() / 4;
  const auto first = losses.first(quarter), last = losses.last(quarter);
  return {Mean(first) - Mean(last), std::sqrt((Variance(first) + Variance(last)) / static_cast<double>(quarter))};
}

LossCall CallNumeric(std::span<const double> baseline, std::span<const double> treated) {
  const auto finite = [](double loss) { return std::isfinite(loss); };
  if (!std::ranges::all_of(baseline, finite)) return Untold("the untreated loss is not finite");
  if (!std::ranges::all_of(treated, finite)) return Different("the loss is no longer finite");
  if (AllEqual(treated) && !AllEqual(baseline)) return Different("the loss no longer moves");
  if (baseline.size() < kFewestLosses) return Untold(fmt::format("only {} losses were seen", baseline.size()));
  const Fall fall = FallOf(baseline);
  if (fall.size <= 2 * fall.error) {
    return Untold(fmt::format("the untreated loss does not fall clearly in {} steps", baseline.size()));
  }
  double gap = 0;
  for (std::size_t i = 0; i < baseline.size(); ++i) gap += std::abs(treated[i] - baseline[i]);
  gap /= static_cast<double>(baseline.size()) * fall.size;
  const std::size_t quarter = baseline.size() / 4;
  const double end_gap = std::abs(Mean(treated.last(quarter)) - Mean(baseline.last(quarter))) / fall.size;
  const double share = FallOf(treated).size / fall.size;
  if (share < kDifferent)
    return Different(fmt::format("the loss falls by {:.0f} % of the untreated fall", 100 * share));
  const double worst = std::max(gap, end_gap);
  if (worst > kDifferent) return Different(fmt::format("the curves are {:.0f} % of the fall apart", 100 * worst));
  if (worst > kWithinRounding) return Untold(fmt::format("the curves are {:.0f} % of the fall apart", 100 * worst));
  return {LossVerdict::kWithinRounding};
}

double Distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

bool BitIdentical(std::span<const double> a, std::span<const double> b) {
  return !a.empty() &&
         std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>, std::bit_cast<std::uint64_t, double>);
}

LossFacts JudgeExact(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const auto call = NotComparable(baseline, treated)) return Say(std::move(facts), *call);
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), {LossVerdict::kBitIdentical});
  return Say(std::move(facts), Different("the losses should be the same bit for bit"));
}

LossFacts JudgeResampled(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const auto call = NotComparable(baseline, treated)) return Say(std::move(facts), *call);
  // A loader that runs ahead has drawn more batches by the end: compare the common part.
  const std::size_t drawn = std::min(baseline.sample_hashes.size(), treated.sample_hashes.size());
  if (drawn == 0) return Say(std::move(facts), Untold("the samples that were drawn were not seen"));
  if (!std::equal(baseline.sample_hashes.begin(), baseline.sample_hashes.begin() + static_cast<std::ptrdiff_t>(drawn),
                  treated.sample_hashes.begin())) {
    return Say(std::move(facts), Different("other samples are drawn"));
  }
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), {LossVerdict::kSameSamples});
  if (AllEqual(treated.losses) && !AllEqual(baseline.losses)) {
    return Say(std::move(facts), Different("the loss no longer moves"));
  }
  facts.only_draws_differ = true;
  return Say(std::move(facts),
             Untold("the same samples are drawn, but the program does not fix each sample's random numbers"));
}

LossFacts JudgeNumeric(const LaunchResult& baseline, const LaunchResult& treated) {
  LossFacts facts = FactsOf(baseline.losses, treated.losses);
  if (const auto call = NotComparable(baseline, treated)) return Say(std::move(facts), *call);
  if (BitIdentical(baseline.losses, treated.losses)) return Say(std::move(facts), {LossVerdict::kBitIdentical});
  return Say(std::move(facts), CallNumeric(baseline.losses, treated.losses));
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
      if (const auto call = NotComparable(baselines.front(), launch)) return Say(std::move(facts), *call);
      curves.push_back(&launch.losses);
    }
  }
  if (baselines.size() < kSpreadBaselines) {
    return Say(std::move(facts), Untold("the losses of untreated launches differ from one another"));
  }
  std::vector<double> distance;
  for (const auto* a : curves) {
    for (const auto* b : curves) distance.push_back(Distance(*a, *b));
  }
  const auto finite = [](const LaunchResult& launch) {
    return std::ranges::all_of(launch.losses, [](double loss) { return std::isfinite(loss); });
  };
  if (!std::ranges::all_of(baselines, finite)) {
    return Say(std::move(facts), Untold("the untreated loss is not finite"));
  }
  if (!std::ranges::all_of(treated, finite)) return Say(std::move(facts), Different("the loss is no longer finite"));
  const double p = PermutationP(distance, static_cast<int>(curves.size()), static_cast<int>(treated.size()));
  if (p <= alpha) {
    return Say(std::move(facts), Different(fmt::format("outside the spread of untreated launches (p={:.2g})", p)));
  }
  return Say(std::move(facts), {LossVerdict::kWithinSpread});
}

}  // namespace loopscope
