#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/line_pieces.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 20;  // of the run
constexpr std::size_t kMostPlaces = 4;

// Stretches of the run from one evaluation to the next.
double StepsBetween(const Timeline& timeline) {
  const WholeRun& whole = timeline.whole();
  if (whole.steps_between_evaluations > 0) return whole.steps_between_evaluations;
  return static_cast<double>(timeline.steps_per_epoch());
}

std::vector<Finding> Run(const Timeline& timeline) {
  const std::vector<Interval>& evaluations = timeline.whole().evaluations;
  if (evaluations.empty() && timeline.whole().evaluated_after) {
    return {Finding::CannotTell("an evaluation was seen only after the last training step")};
  }
  if (evaluations.empty()) return {Finding::CannotTell("not in the window: no evaluation was seen")};
  const double steps = StepsBetween(timeline);
  if (steps <= 0) {
    return {Finding::CannotTell("one evaluation was seen, and how many steps lie between two is not known")};
  }
  const std::vector<Interval> timed = Undisturbed(timeline, evaluations);
  double total_ms = 0;
  for (const Interval& one : timed) total_ms += Ms(one.length());
  const double each_ms = total_ms / static_cast<double>(timed.size());
  const double share_pct = 100 * each_ms / (each_ms + steps * timeline.mean_step_ms());
  if (share_pct < kMinSharePct) return {};
  Finding finding =
      CostingOutside(timeline, each_ms / steps,
                     fmt::format("evaluation takes {:.0f} % of the run: {} after every {:.3g} steps of {}", share_pct,
                                 MsText(each_ms), steps, MsText(timeline.mean_step_ms())));
  finding.severity = share_pct >= 50 ? Severity::kHigh : Severity::kMedium;
  const std::vector<Interval> shown = WithOperators(timeline, evaluations);
  double shown_ms = 0;
  for (const Interval& one : shown) shown_ms += Ms(one.length());
  for (const PlaceTime& place : PlacesOf(timeline, LinesIn(timeline, shown))) {
    if (finding.evidence.size() == kMostPlaces || place.ms < shown_ms / 20) break;
    if (!place.where) continue;
    finding.evidence.push_back(
        {fmt::format("{:.0f} % of an evaluation: {}", 100 * place.ms / shown_ms, WhatText(place)), evaluations.size(),
         place.where});
  }
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kEvaluation, Standing::kGivesWay}};

}  // namespace

extern const Analyzer kSlowEvaluation{.id = "slow-evaluation",
                                      .question = "Does evaluating take much of the run?",
                                      .run = Run,
                                      .needs = kNeedsOps,
                                      .claims = kClaims,
                                      .whatever_runs = true};

}  // namespace loopscope
