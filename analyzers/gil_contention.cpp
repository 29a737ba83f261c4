#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;    // of the step
constexpr std::int64_t kMinHeld = 2;  // checks in which another thread took the interpreter's lock
constexpr double kMinHeldShare = 0.25;

struct Blocked {
  double waited = 0;     // share of the time for which the training thread neither ran nor was ready to
  double contender = 0;  // for which the other thread ran
};

std::optional<Blocked> Measure(const Trace& trace) {
  const auto window = NumberFact(trace, "processors.window_ns"), ran = NumberFact(trace, "processors.training_ran_ns"),
             other = NumberFact(trace, "contention.thread_ns"), over = NumberFact(trace, "contention.over_ns");
  const auto delayed = ProcessorDelayShare(trace.facts);
  if (!delayed || !ran || !other || !over || *over <= 0) return std::nullopt;
  return Blocked{1 - static_cast<double>(*ran) / static_cast<double>(*window) - *delayed,
                 static_cast<double>(*other) / static_cast<double>(*over)};
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (!NumberFact(trace, "processors.training_ran_ns")) {
    return {Finding::CannotTell("the trace does not record for how long the training thread ran")};
  }
  const auto looks = NumberFact(trace, "contention.looks"), held = NumberFact(trace, "contention.held");
  const auto blocked = Measure(trace);
  if (!looks || !held || !blocked || *held < kMinHeld ||
      static_cast<double>(*held) < kMinHeldShare * static_cast<double>(*looks)) {
    return {};
  }
  // Exclude loader waits; cap the wait at the other thread's running time.
  const double waits_ms = blocked->waited * timeline.mean_step_ms() - timeline.part_ms(Part::kLoaderWait);
  const double ms = std::min(waits_ms, blocked->contender * timeline.mean_step_ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format("another thread holds Python's interpreter lock (GIL): the training thread waits for it for {} per "
                  "step ({})",
                  MsText(ms), ShareText(timeline, ms)));
  finding.expected_gain_ms = ms;
  finding.evidence.push_back(
      {fmt::format("thread {} computes for {:.0f} % of the time; it took the lock in {} of the {} steps in which the "
                   "training thread gave it up",
                   FactOf(trace, "contention.thread"), 100 * blocked->contender, *held, *looks),
       static_cast<std::uint64_t>(*held), PlaceOf(FactOf(trace, "contention.where")), ms});
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kAnyLine}};

}  // namespace

extern const Analyzer kGilContention{.id = "gil-contention",
                                     .question = "Does another thread keep Python's interpreter lock from training?",
                                     .run = Run,
                                     .claims = kClaims};

}  // namespace loopscope
