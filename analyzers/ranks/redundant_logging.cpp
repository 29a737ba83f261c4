#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/ranks.h"
#include "profiler/core/rank_analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 1;
// Others write the same if they write about as often as the rank that writes longest, and not far less. Durations may
// differ: the pipe may be full for one rank and not for another.
constexpr double kMinStepsOfMost = 0.5, kMinTimeOfMost = 0.2;

std::vector<Finding> RunRedundantLogging(std::span<const RankSummary> ranks) {
  if (ranks.size() < 2) return {Finding::NotApplicable("there is one rank")};
  if (const auto few = TooFewSteps(ranks)) return {*few};
  const auto output_ms = [](const RankSummary& one) { return one.output.ms_per_step; };
  const RankSummary& most = *std::ranges::max_element(ranks, {}, output_ms);
  const double step_ms = std::ranges::max_element(ranks, {}, &RankSummary::mean_step_ms)->mean_step_ms;
  const double cost_ms = most.output.ms_per_step;
  const auto writers = std::ranges::count_if(ranks, [&](const RankSummary& one) {
    return one.output.steps_share >= kMinStepsOfMost * most.output.steps_share &&
           output_ms(one) >= kMinTimeOfMost * cost_ms;
  });
  if (cost_ms <= 0 || writers < 2 || cost_ms < kMinSharePct / 100 * step_ms) return {};
  Finding finding;
  finding.cost_ms_per_step = cost_ms;
  finding.title = fmt::format("{} of {} ranks write the same kind of log: {} per step each", writers, ranks.size(),
                              MsText(cost_ms));
  finding.evidence.push_back({fmt::format("rank {} writes in {:.0f} % of its steps, {} per step", most.run.rank,
                                          100 * most.output.steps_share, MsText(cost_ms)),
                              static_cast<std::uint64_t>(writers), most.output.where});
  return {finding};
}

}  // namespace

extern const RankAnalyzer kRedundantLogging{
    .id = "redundant-logging", .question = "Do several ranks spend time on the same log?", .run = RunRedundantLogging};

}  // namespace loopscope
