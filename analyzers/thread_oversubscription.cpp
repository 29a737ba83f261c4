#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;  // of the step, for which the training thread waits for a processor

std::vector<Finding> Run(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const auto threads = NumberFact(trace, "threads");
  const auto processors = ProcessorsOf(timeline);
  if (!threads || trace.run.cores <= 0 || !processors) {
    return {Finding::CannotTell("the trace does not record how many threads compute and what they waited for")};
  }
  if (*threads * processors->ranks_here <= trace.run.cores) return {};
  const double ms = processors->own_delay_ms;
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  // Its operators also wait for their other threads, which wait for a processor in turn: any part of their time may be
  // lost, and losses of several times the delay have been seen.
  double operators_ms = 0;
  for (const Part part : {Part::kForward, Part::kBackward, Part::kOptimizer}) operators_ms += timeline.part_ms(part);
  Finding finding =
      CostingAtMost(timeline, std::max(ms, operators_ms),
                    fmt::format("{} compute on {}: the training thread alone waits {} per step for one ({})",
                                ThreadsText(*threads, processors->ranks_here),
                                Counted(static_cast<std::uint64_t>(trace.run.cores), "processor"), MsText(ms),
                                ShareText(timeline, ms)));
  finding.severity = SeverityOfShare(SharePct(timeline, ms));
  finding.evidence.push_back({fmt::format("ready without a processor for {} of each step, of which {:.0f} % because of "
                                          "the program's own threads",
                                          MsText(processors->delay_ms), 100 * processors->own_share),
                              0, std::nullopt});
  return {finding};
}

}  // namespace

extern const Analyzer kThreadOversubscription{.id = "thread-oversubscription",
                                              .question = "Do more threads compute than there are processors?",
                                              .run = Run,
                                              .usual_share = 0.3};

}  // namespace loopscope
