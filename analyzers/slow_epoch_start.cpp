#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/line_pieces.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of an epoch
constexpr std::size_t kMostPlaces = 4;

// Starts of epochs in the window, the first left out: it holds what happens once.
std::vector<Interval> LaterStarts(const Timeline& timeline) {
  std::vector<Interval> starts = timeline.whole().epoch_starts;
  const auto first_end = timeline.steps().front().time.end_ns;
  std::erase_if(starts, [&](const Interval& one) { return one.start_ns < first_end; });
  return starts;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const std::vector<Interval> starts = LaterStarts(timeline);
  const double steps = static_cast<double>(timeline.steps_per_epoch());
  if (starts.empty()) return {Finding::CannotTell("not in the window: no start of a second epoch was seen")};
  if (steps <= 0) return {Finding::CannotTell("how many steps an epoch has is not known")};
  double total_ms = 0;
  for (const Interval& one : starts) total_ms += Ms(one.length());
  const double each_ms = total_ms / static_cast<double>(starts.size());
  const double share_pct = 100 * each_ms / (each_ms + steps * timeline.mean_step_ms());
  if (share_pct < kMinSharePct) return {};
  const std::vector<PlaceTime> places = PlacesOf(timeline, LinesIn(timeline, WithOperators(timeline, starts)));
  double shown_ms = 0;
  for (const PlaceTime& place : places) shown_ms += place.ms;
  const std::string what = places.empty() || places.front().what.empty() ? "" : ": " + places.front().what;
  Finding finding =
      Costing(timeline, each_ms / steps,
              fmt::format("each epoch's start takes {}, {:.0f} % of the epoch{}", MsText(each_ms), share_pct, what));
  finding.severity = SeverityOfShare(share_pct);
  finding.per_epoch = true;
  for (const PlaceTime& place : places) {
    if (finding.evidence.size() == kMostPlaces || place.ms < shown_ms / 20) break;
    if (!place.where) continue;
    finding.evidence.push_back(
        {fmt::format("{:.0f} % of an epoch's start: {}", 100 * place.ms / shown_ms, WhatText(place)), starts.size(),
         place.where});
  }
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kSlowEpochStart{
    .id = "slow-epoch-start", .question = "Does the start of an epoch take long?", .run = Run, .needs = kNeedsOps};

}  // namespace loopscope
