#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzers/shared/evidence.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

// Losses may agree bit for bit once by chance, but not repeatedly.
constexpr std::size_t kLossesNeeded = 2;
// Ranks that each iterate over their own share, padded to equal length, take little more than one data set together.
constexpr double kMostOfOneSet = 1.1;

std::string Fact(const RankSummary& rank, facts::Key key) {
  return std::string(FactOf(rank.facts, key));
}

double Number(const RankSummary& rank, facts::NumberKey key) {
  return static_cast<double>(NumberFact(rank.facts, key).value_or(-1));
}

bool IsDistributed(const RankSummary& rank) {
  return Fact(rank, "loader.sampler").find("Distributed") != std::string::npos;
}

bool SameLosses(std::span<const RankSummary> ranks) {
  const std::vector<double>& first = ranks.front().first_losses;
  return first.size() >= kLossesNeeded &&
         std::ranges::all_of(ranks, [&](const RankSummary& rank) { return rank.first_losses == first; });
}

bool SameIndices(std::span<const RankSummary> ranks) {
  const std::string first = Fact(ranks.front(), "loader.first");
  return first.find(',') != std::string::npos &&
         std::ranges::all_of(ranks, [&](const RankSummary& rank) { return Fact(rank, "loader.first") == first; });
}

// Whether the ranks' epochs together are one pass over the data set.
bool PassesShareOneSet(std::span<const RankSummary> ranks) {
  double passes = 0;
  for (const RankSummary& rank : ranks) {
    const double pass = Number(rank, "loader.pass");
    if (pass < 0) return false;
    passes += pass;
  }
  const double samples = Number(ranks.front(), "loader.samples");
  return samples > 0 && passes <= kMostOfOneSet * samples;
}

Finding Found(std::span<const RankSummary> ranks) {
  const RankSummary& rank = ranks.front();
  const auto count = static_cast<double>(ranks.size());
  double mean_ms = 0;
  for (const RankSummary& one : ranks) mean_ms = std::max(mean_ms, one.mean_step_ms);
  Finding finding;
  finding.title = fmt::format("the {} ranks train on the same samples: each repeats the others' work", ranks.size());
  finding.cost_ms_per_step = mean_ms * (count - 1) / count;
  const std::string sampler = Fact(rank, "loader.sampler");
  finding.evidence.push_back(
      {fmt::format("the first {} losses of all ranks are the same to the last bit", rank.first_losses.size()),
       rank.first_losses.size(), PlaceOf(Fact(rank, "loader.where"))});
  if (!sampler.empty()) {
    finding.evidence.push_back({fmt::format("every rank draws its samples with {}{}", sampler,
                                            SameIndices(ranks) ? ", and its first batch holds the same ones" : ""),
                                ranks.size(), std::nullopt});
  }
  return finding;
}

std::vector<Finding> RunDuplicatedData(std::span<const RankSummary> ranks) {
  if (ranks.size() < 2) return {Finding::NotApplicable("there is one rank")};
  // Ranks that share one model (tensor or pipeline parallel) should see the same samples.
  if (std::ranges::any_of(ranks, [](const RankSummary& rank) { return rank.gradient_exchanges == 0; })) {
    return {Finding::NotApplicable("the ranks exchange no gradients in their backward passes")};
  }
  if (SameLosses(ranks)) return {Found(ranks)};
  if (std::ranges::all_of(ranks, IsDistributed) || PassesShareOneSet(ranks)) return {};
  if (std::ranges::any_of(ranks, [](const RankSummary& rank) { return Fact(rank, "loader.sampler").empty(); })) {
    return {Finding::CannotTell("which samples the ranks train on was not recorded")};
  }
  return {Finding::CannotTell(
      fmt::format("every rank draws from a data set of its own with {}: whether these are shares of one is not known",
                  Fact(ranks.front(), "loader.sampler")))};
}

}  // namespace

extern const RankAnalyzer kDuplicatedData{
    .id = "duplicated-data", .question = "Do the ranks train on the same samples?", .run = RunDuplicatedData};

}  // namespace loopscope
