#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "profiler/core/rank_analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinPerStep = 0.5;

// Where the model was wrapped, as the program's shim recorded it; else where the search was seen to begin.
std::optional<Where> WrappedAt(const RankSummary& rank) {
  const auto place = PlaceOf(FactOf(rank.facts, "ddp.where"));
  return place ? place : rank.unused_search.where;
}

std::vector<Finding> RunUnusedParameterSearch(std::span<const RankSummary> ranks) {
  const auto searches = [](const RankSummary& rank) { return rank.unused_search.per_step >= kMinPerStep; };
  if (std::ranges::all_of(ranks, [](const RankSummary& rank) { return rank.gradient_exchanges == 0; })) {
    return {Finding::NotApplicable("no exchange of gradients in a backward pass was seen")};
  }
  const auto first = std::ranges::find_if(ranks, searches);
  if (first == ranks.end()) return {};
  int checked = 0;
  for (const RankSummary& rank : ranks) {
    if (rank.unused_search.passes_unused > 0) return {};
    if (rank.unused_search.passes_checked == 0) {
      return {Finding::CannotTell(fmt::format(
          "whether every parameter of rank {} gets a gradient was not recorded: no backward pass of it lies "
          "in the detail window",
          rank.run.rank))};
    }
    checked += rank.unused_search.passes_checked;
  }
  const RankSummary& rank =
      *std::ranges::max_element(ranks, {}, [](const RankSummary& one) { return one.unused_search.ms_per_step; });
  Finding finding;
  finding.cost_ms_per_step = rank.unused_search.ms_per_step;
  finding.title = fmt::format("every step searches its graph for unused parameters, and there are none: {}",
                              MsText(rank.unused_search.ms_per_step));
  finding.evidence.push_back(
      {fmt::format("{:.3g} searches per step on rank {}", rank.unused_search.per_step, rank.run.rank),
       static_cast<std::uint64_t>(rank.unused_search.per_step * rank.steps + 0.5), WrappedAt(rank)});
  finding.evidence.push_back(
      {fmt::format("every parameter got a gradient in all {} backward passes that were looked at", checked),
       static_cast<std::uint64_t>(checked), std::nullopt});
  return {finding};
}

}  // namespace

extern const RankAnalyzer kUnusedParameterSearch{
    .id = "unused-parameter-search",
    .question = "Is the graph searched for unused parameters without need?",
    .run = RunUnusedParameterSearch};

}  // namespace loopscope
