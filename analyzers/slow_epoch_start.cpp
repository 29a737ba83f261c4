#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/line_pieces.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;    // of an epoch, of the loader's wait or of what comes before it
constexpr double kMinRefillPct = 10;  // if no longer than a worker needs for its first batch, which is inherent
constexpr std::size_t kMostPlaces = 4;
// Work before a single start may happen only once (a first checkpoint and its imports), unless it is long.
constexpr double kNotOnceMs = 1000;
constexpr double kMuchLonger = 3;  // than the usual work before a start: something else ran there, too

// Only after the first step: the first epoch's start includes one-time work.
std::vector<Interval> Later(const Timeline& timeline, std::vector<Interval> of) {
  const auto first_end = timeline.steps().front().time.end_ns;
  std::erase_if(of, [&](const Interval& one) { return one.start_ns < first_end; });
  return of;
}

double TotalMs(const std::vector<Interval>& of) {
  double ms = 0;
  for (const Interval& one : of) ms += Ms(one.length());
  return ms;
}

// Work between one epoch's start and the next that precedes each of them.
struct Before {
  double each_ms = 0;
  std::vector<Interval> turns;
};

Before BeforeEach(const Timeline& timeline, const std::vector<Interval>& starts) {
  const std::vector<Interval> all = Later(timeline, timeline.whole().before_epoch_starts);
  std::vector<std::vector<Interval>> of_start(starts.size());
  for (const Interval& one : all) {
    const auto start =
        std::ranges::find_if(starts, [&](const Interval& other) { return other.start_ns >= one.end_ns; });
    if (start != starts.end()) of_start[static_cast<std::size_t>(start - starts.begin())].push_back(one);
  }
  std::vector<double> sorted;
  for (const std::vector<Interval>& turns : of_start) sorted.push_back(TotalMs(turns));
  std::ranges::sort(sorted);
  const double usual_ms = sorted[(sorted.size() - 1) / 2];
  Before before;
  if (starts.size() == 1 && usual_ms < kNotOnceMs) return before;
  before.each_ms = usual_ms;
  for (const std::vector<Interval>& turns : of_start) {
    if (TotalMs(turns) > kMuchLonger * usual_ms) continue;
    before.turns.insert(before.turns.end(), turns.begin(), turns.end());
  }
  return before;
}

void SayItRefills(double steps, double batch_ms, Finding& finding) {
  finding.evidence.push_back(
      {fmt::format("a worker makes a batch in {}: the first one of an epoch is waited for", MsText(batch_ms)), 1, {}});
  finding.advice = fmt::format(
      "An epoch has {:.0f} steps, and the workers begin each with nothing ready. Let one pass of the loader go over "
      "several epochs (a sampler that draws the order again and again), so that they work ahead past its end.",
      steps);
}

std::vector<Finding> Run(const Timeline& timeline) {
  const std::vector<Interval> starts = Later(timeline, timeline.whole().epoch_starts);
  const double steps = static_cast<double>(timeline.steps_per_epoch());
  if (starts.empty()) return {Finding::CannotTell("not in the window: no start of a second epoch was seen")};
  if (steps <= 0) return {Finding::CannotTell("how many steps an epoch has is not known")};
  const Before before = BeforeEach(timeline, starts);
  const std::vector<Interval> timed = Undisturbed(timeline, starts);
  const double start_ms = TotalMs(timed) / static_cast<double>(timed.size());
  const double each_ms = start_ms + before.each_ms;
  if (each_ms <= 0) return {};
  const double share_pct = 100 * each_ms / (each_ms + steps * timeline.mean_step_ms());
  const auto pct = [&](double ms) { return share_pct * ms / each_ms; };
  // A worker's time for a batch: the loop has to wait for an epoch's first one. 0: no workers, or unknown.
  const double batch_ms = loopscope::TotalMs(WorkerLines(timeline));
  const bool refills = batch_ms > 0 && pct(std::max(start_ms - batch_ms, before.each_ms)) < kMinSharePct;
  if (pct(std::max(start_ms, before.each_ms)) < (refills ? kMinRefillPct : kMinSharePct)) return {};
  std::vector<Interval> turns = starts;
  turns.insert(turns.end(), before.turns.begin(), before.turns.end());
  std::ranges::sort(turns, {}, &Interval::start_ns);
  const std::vector<PlaceTime> places = PlacesOf(timeline, LinesIn(timeline, WithOperators(timeline, turns)));
  double shown_ms = 0;
  for (const PlaceTime& place : places) shown_ms += place.ms;
  const std::string what = places.empty() || places.front().what.empty() ? "" : ": " + places.front().what;
  Finding finding =
      CostingOutside(timeline, each_ms / steps,
                     fmt::format("{} {}, {:.0f} % of the epoch{}",
                                 before.each_ms > start_ms ? "between two epochs pass" : "each epoch's start takes",
                                 MsText(each_ms), share_pct, what));
  for (const PlaceTime& place : places) {
    if (finding.evidence.size() == kMostPlaces || place.ms < shown_ms / 20) break;
    if (!place.where) continue;
    finding.evidence.push_back(
        {fmt::format("{:.0f} % of an epoch's start: {}", 100 * place.ms / shown_ms, WhatText(place)), starts.size(),
         place.where});
  }
  if (refills) SayItRefills(steps, batch_ms, finding);
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kEpochStart, Standing::kGivesWay}, Claim{Time::kBetweenSteps}};

}  // namespace

extern const Analyzer kSlowEpochStart{.id = "slow-epoch-start",
                                      .question = "Does the start of an epoch take long?",
                                      .run = Run,
                                      .needs = kNeedsOps,
                                      .claims = kClaims,
                                      .whatever_runs = true};

}  // namespace loopscope
