#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/ranks.h"
#include "profiler/core/rank_analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinLoss = 1.05;  // time of a step on all ranks, over that of as many steps on one rank alone

// One rank alone needs its own work as many times as there are ranks, and exchanges nothing.
double AloneMs(std::span<const RankSummary> ranks) {
  double sum_ms = 0;
  for (const RankSummary& rank : ranks) sum_ms += rank.own_ms();
  return sum_ms;
}

std::vector<Finding> RunOverdistributed(std::span<const RankSummary> ranks) {
  if (ranks.size() < 2) return {Finding::NotApplicable("there is one rank")};
  if (const auto few = TooFewSteps(ranks)) return {*few};
  if (!std::ranges::all_of(ranks, &RankSummary::communication_seen)) {
    return {Finding::CannotTell("no communication between the ranks was recorded")};
  }
  const int size = std::ranges::max_element(ranks, {}, [](const RankSummary& one) { return one.run.ranks; })->run.ranks;
  if (size > static_cast<int>(ranks.size())) {
    return {Finding::CannotTell(fmt::format("the traces of {} of {} ranks are there", ranks.size(), size))};
  }
  const double step_ms = std::ranges::max_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
  const double alone_ms = AloneMs(ranks);
  if (step_ms < kMinLoss * alone_ms) return {};
  Finding finding;
  finding.cost_ms_per_step = step_ms - alone_ms;
  finding.title = fmt::format("{} ranks take {} for what one alone would do in {}", ranks.size(), MsText(step_ms),
                              MsText(alone_ms));
  finding.evidence.push_back(
      {fmt::format("a step of {} ranks takes {}, of which each rank works {} itself on average", ranks.size(),
                   MsText(step_ms), MsText(alone_ms / static_cast<double>(ranks.size()))),
       ranks.size(), std::nullopt});
  return {finding};
}

}  // namespace

extern const RankAnalyzer kOverdistributed{
    .id = "overdistributed", .question = "Would fewer ranks be quicker than all of them?", .run = RunOverdistributed};

}  // namespace loopscope
