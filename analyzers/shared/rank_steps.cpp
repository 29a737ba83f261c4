#include "analyzers/shared/rank_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"

namespace loopscope {
namespace {

constexpr int kStepsNeeded = 3;

}  // namespace

std::optional<Finding> TooFewSteps(std::span<const RankSummary> ranks) {
  for (const RankSummary& rank : ranks) {
    if (rank.steps >= kStepsNeeded) continue;
    return Finding::CannotTell(fmt::format("rank {} has {}: {}", rank.run.rank, Counted(rank.steps, "timed step"),
                                           rank.why_no_steps.empty() ? "too few" : rank.why_no_steps));
  }
  return std::nullopt;
}

std::string RankText(const RankSummary& rank, std::span<const RankSummary> all) {
  const bool several = std::ranges::any_of(all, [&](const RankSummary& one) { return one.run.node != rank.run.node; });
  if (!several || rank.run.node.empty()) return fmt::format("rank {}", rank.run.rank);
  return fmt::format("rank {} on {}", rank.run.rank, rank.run.node);
}

}  // namespace loopscope
