#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/line_pieces.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr std::int64_t kManyRows = 16;  // of a batch: fewer cost little to take one by one
constexpr double kMinSharePct = 5;      // of the steady step's work; Costing() calls 20 % and more high

constexpr double kMinPlaceShare = 0.1;  // of the wait, of a line that is named
constexpr std::size_t kMostPlaces = 4;
constexpr double kMuchLess = 0.5;    // than the wait: making a batch is quicker than handing it over
constexpr double kReadyShare = 0.8;  // of the step: workers that need less have batches ready

struct Waits {
  double wait_ns = 0, longest_ns = 0, steps_ns = 0;  // steps count by their weight
  std::int64_t longest_seen_ns = 0;
  std::uint64_t steps = 0, waited = 0;  // all whose wait is known, and those that waited
};

// Waits of the training thread do not matter while the GPU has work.
std::int64_t WaitNs(const Timeline& timeline, const Step& step) {
  if (WhyNotCauses(timeline)) return step.parts_ns[static_cast<std::size_t>(Part::kLoaderWait)];
  return static_cast<std::int64_t>(IdleMs(timeline, IdleCause::kLoader, step.time) * 1e6);
}

Waits Measure(const Timeline& timeline) {
  Waits waits;
  for (const PartedStep& one : timeline.parted()) {
    const Step& step = timeline.steps()[one.index];
    const std::int64_t seen_ns = WaitNs(timeline, step);
    const double wait_ns = one.weight * static_cast<double>(seen_ns);
    waits.longest_seen_ns = std::max(waits.longest_seen_ns, seen_ns);
    waits.wait_ns += wait_ns;
    waits.steps += 1;
    waits.steps_ns += one.weight * static_cast<double>(step.time.length());
    waits.waited += wait_ns > 0;
    waits.longest_ns = std::max(waits.longest_ns, wait_ns);
  }
  return waits;
}

// Scales the wait's share of the steps in which it is known to the mean step, which covers more steps: one hiccup among
// few steps could otherwise exceed the whole step.
double WaitMs(const Timeline& timeline, const Waits& waits, double wait_ns) {
  return waits.steps_ns == 0 ? 0 : timeline.mean_step_ms() * wait_ns / waits.steps_ns;
}

// What takes the time at a line: several transforms of one list may take much of it.
std::vector<std::string> NamesAt(const PlaceTime& place) {
  std::vector<std::string> names = {WhatText(place)};
  names.insert(names.end(), place.also.begin(), place.also.end());
  return names;
}

// Lines that run while the loop waits: of the data set, the collate function, a transform; on the training thread, or
// in the workers that it waits for, which are followed in some batches of batch_ms each.
void AddLines(const Timeline& timeline, double wait_ms, std::span<const LineShare> in_workers, double batch_ms,
              Finding& finding) {
  const std::optional<Where> asked = finding.evidence.front().where;
  const double ms = in_workers.empty() ? wait_ms : batch_ms;
  const std::vector<PlaceTime> places =
      in_workers.empty() ? PlacesOf(timeline, timeline.lines(), Part::kLoaderWait) : PlacesOf(timeline, in_workers);
  const std::string_view of = in_workers.empty() ? "of it" : "of a worker's time for a batch";
  std::vector<Evidence> inside;
  double unknown_ms = 0;  // of the wait, of which no line is known
  for (const PlaceTime& place : places) unknown_ms += place.where ? 0 : wait_ms * place.ms / ms;
  for (const PlaceTime& place : places) {
    if (inside.size() == kMostPlaces || place.ms < kMinPlaceShare * ms) break;
    if (!place.where || (asked && place.where->path == asked->path && place.where->line == asked->line)) continue;
    inside.push_back(
        {fmt::format("{} {}: {}{}", MsText(place.ms), of, fmt::join(NamesAt(place), " and "), HintFor(place)), 1,
         place.where, wait_ms * place.ms / ms});
  }
  // If these lines take most of the known wait, the largest of them is the place to change, not the line that asks for
  // a batch.
  double inside_ms = 0;
  for (const Evidence& one : inside) inside_ms += one.ms;
  const bool first = inside_ms > (wait_ms - unknown_ms) / 2;
  finding.evidence.insert(first ? finding.evidence.begin() : finding.evidence.end(), inside.begin(), inside.end());
}

std::string WorkersOption(const Finding& finding, std::int64_t workers) {
  const auto native = [](const Evidence& one) { return one.where && !one.where->path.ends_with(".py"); };
  const bool cpp = std::ranges::any_of(finding.evidence, native);
  return cpp ? fmt::format("workers({})", workers) : fmt::format("num_workers={}, persistent_workers=True", workers);
}

// The call that takes most of a batch's time, where it takes half of it or more.
std::string DearestCall(const Timeline& timeline, std::span<const LineShare> lines, std::optional<Part> part) {
  const std::vector<PlaceTime> places = PlacesOf(timeline, lines, part);
  double all_ms = 0;
  for (const PlaceTime& place : places) all_ms += place.ms;
  if (places.empty() || !places.front().where || places.front().ms < all_ms / 2) return "";
  const std::string at = fmt::format("line {}", places.front().where->line);
  return places.front().what.empty() ? at : fmt::format("{} at {}", places.front().what, at);
}

// What helps depends on why the loop waits: no workers, too few of them, or no number of them is enough.
void AdviseByCause(const Timeline& timeline, double wait_ms, std::span<const LineShare> in_workers, double batch_ms,
                   Finding& finding) {
  const auto workers = NumberFact(timeline.trace(), "loader.workers");
  const std::int64_t cores = std::max(timeline.trace().run.cores, 1);
  if (!workers) return;
  const bool none = *workers == 0;
  const double made_ms = none ? wait_ms : batch_ms, own_ms = timeline.mean_step_ms() - wait_ms;
  if (made_ms <= 0) return;
  const double wanted = own_ms > 0 ? std::ceil(made_ms / own_ms) : HUGE_VAL;
  const bool enough = wanted <= static_cast<double>(std::max<std::int64_t>(cores - 1, 1));
  const std::string dearest = none ? DearestCall(timeline, timeline.lines(), Part::kLoaderWait)
                                   : DearestCall(timeline, in_workers, std::nullopt);
  const std::string most = dearest.empty() ? "" : fmt::format(", most of it in {}", dearest);
  if (none && enough) {
    finding.advice = fmt::format(
        "Make batches beside the training thread ({}): one takes {}{}, the rest of a step {}. If the loop still waits, "
        "make a sample cheaper.",
        WorkersOption(finding, static_cast<std::int64_t>(wanted)), MsText(made_ms), most, MsText(own_ms));
  } else if (enough && wanted > static_cast<double>(*workers)) {
    finding.advice =
        fmt::format("{} are too few ({}): a batch takes one of them {}{}, the rest of a step takes {}.",
                    Counted(static_cast<std::uint64_t>(*workers), "worker"),
                    WorkersOption(finding, static_cast<std::int64_t>(wanted)), MsText(made_ms), most, MsText(own_ms));
  } else if (!enough) {
    finding.advice = fmt::format(
        "Make a sample cheaper: a batch takes {}{}, the rest of a step {}, and {} cannot make up for that. Do once "
        "what "
        "is the same in each epoch, and crop or drop before what is dear.{}",
        MsText(made_ms), most, MsText(own_ms), Counted(static_cast<std::uint64_t>(cores), "processor"),
        none ? fmt::format(" Then workers ({}).", WorkersOption(finding, 1)) : "");
  }
}

// If workers have a batch ready before the loop asks, the loop waits for its transfer. They have none ready if the time
// they need beyond the loop's own work explains most of the wait.
void SayIfWorkersAreReady(const Timeline& timeline, double wait_ms, double batch_ms, Finding& finding) {
  const auto workers = NumberFact(timeline.trace(), "loader.workers");
  if (batch_ms <= 0 || !workers || *workers <= 0) return;
  const double each_ms = batch_ms / static_cast<double>(*workers);
  const double own_ms = timeline.mean_step_ms() - wait_ms;
  if (each_ms > kReadyShare * timeline.mean_step_ms() || each_ms - own_ms > wait_ms / 2) return;
  finding.cost_is = CostKind::kBound;
  // Without workers the loop itself takes batch_ms, and nothing is handed over.
  if (batch_ms < kMuchLess * wait_ms) finding.expected_gain_ms = wait_ms - batch_ms;
  // The transfer happens where the loop asks for a batch; the workers' lines cost nothing.
  const auto asked = std::ranges::find(finding.evidence, LoaderAskedAt(timeline), &Evidence::where);
  if (asked != finding.evidence.end()) std::rotate(finding.evidence.begin(), asked, asked + 1);
  finding.evidence.push_back({fmt::format("the workers have a batch ready every {}, the loop asks for one every {}",
                                          MsText(each_ms), MsText(timeline.mean_step_ms())),
                              1,
                              {}});
  finding.advice =
      "More workers do not help: batches are ready, and handing them over takes the time. Make them smaller (uint8, "
      "converted on the device), fetch whole batches of data in memory without workers, or let the loader work further "
      "ahead (prefetch_factor) where its times vary.";
}

// Each sample costs a call and a small tensor, and then they are stacked: workers only spread that.
void SayIfSamplesAreRows(const Timeline& timeline, Finding& finding) {
  const auto batch = NumberFact(timeline.trace(), "loader.batch_size");
  if (FactOf(timeline.trace(), "loader.rows") != "tensors" || !batch || *batch < kManyRows) return;
  finding.treatment_id = "loader.rows";
  finding.evidence.push_back(
      {fmt::format("a batch is {} rows of tensors in memory, taken one by one and stacked", *batch), 1, {}});
  finding.advice = fmt::format(
      "Take all rows of a batch at once: DataLoader(data, sampler=BatchSampler(RandomSampler(data), {}, False), "
      "batch_size=None), or index the tensors yourself. Workers only spread the calls that this saves.",
      *batch);
}

std::string WorkersText(const Timeline& timeline) {
  const std::string_view workers = FactOf(timeline.trace(), "loader.workers");
  if (workers.empty()) return "";
  return workers == "0" ? ", loading on the training thread itself (0 workers)"
                        : fmt::format(", with {} loader workers", workers);
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.loader_known()) {
    return {Finding::CannotTell("no loader was seen, so waiting for data cannot be separated from other time")};
  }
  const Waits waits = Measure(timeline);
  // Without the step that waited longest: one disk hiccup does not make a starved loop.
  const double usual_ms = WaitMs(timeline, waits, waits.wait_ns - waits.longest_ns);
  if (SharePct(timeline, usual_ms) < kMinSharePct) return {};
  // A dominating hiccup is left out of the cost as well.
  const double ms = 2 * waits.longest_ns > waits.wait_ns ? usual_ms : WaitMs(timeline, waits, waits.wait_ns);
  Finding finding = Costing(
      timeline, ms, fmt::format("the loop waits {} per step for its loader ({})", MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back({fmt::format("{} of {} steps wait for a batch, {} at most{}", waits.waited, waits.steps,
                                          MsText(Ms(waits.longest_seen_ns)), WorkersText(timeline)),
                              waits.waited, LoaderAskedAt(timeline)});
  const std::vector<LineShare> in_workers = WorkerLines(timeline);
  const double batch_ms = TotalMs(in_workers);
  AddLines(timeline, ms, in_workers, batch_ms, finding);
  AdviseByCause(timeline, ms, in_workers, batch_ms, finding);
  SayIfWorkersAreReady(timeline, ms, batch_ms, finding);
  SayIfSamplesAreRows(timeline, finding);
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}, Claim{Time::kLoaderWait}};

}  // namespace

extern const Analyzer kInputStarvation{.id = "input-starvation",
                                       .question = "Does the loop wait for its data?",
                                       .run = Run,
                                       .needs = kNeedsNothing,
                                       .claims = kClaims};

}  // namespace loopscope
