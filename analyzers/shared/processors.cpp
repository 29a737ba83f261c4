#include "analyzers/shared/processors.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {

std::optional<double> ProcessorDelayShare(const std::map<std::string, std::string>& facts) {
  const auto window = NumberFact(facts, "processors.window_ns");
  const auto delay = NumberFact(facts, "processors.training_delay_ns");
  if (!window || !delay || *window <= 0) return std::nullopt;
  return static_cast<double>(*delay) / static_cast<double>(*window);
}

std::optional<Processors> ProcessorsOf(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const auto share = ProcessorDelayShare(trace.facts);
  const auto own = NumberFact(trace, "processors.own_ns");
  const auto all = NumberFact(trace, "processors.all_ns");
  if (!share || !own || !all || *own <= 0) return std::nullopt;
  Processors found;
  const auto here = NumberFact(trace, "processors.ranks_here");
  found.ranks_here = static_cast<int>(std::max<std::int64_t>(1, here.value_or(trace.run.ranks)));
  const double work = static_cast<double>(*own) * found.ranks_here;
  found.own_share = std::min(1.0, work / std::max(work, static_cast<double>(*all)));
  const auto window_ns = static_cast<double>(NumberFact(trace, "processors.window_ns").value_or(0));
  found.busy = static_cast<double>(*all) / window_ns;
  found.others = std::max(0.0, static_cast<double>(*all) - work) / window_ns;
  found.delay_pct = 100 * *share;
  found.others_pct = found.delay_pct * (1 - found.own_share);
  found.physical = NumberFact(trace, "processors.physical");
  found.delay_ms = *share * timeline.mean_step_ms();
  found.own_delay_ms = found.delay_ms * found.own_share;
  return found;
}

bool OthersInterfere(const Timeline& timeline) {
  constexpr double kMinOthersShare = 0.2, kCrowded = 0.85;  // of the processors
  const auto processors = ProcessorsOf(timeline);
  if (!processors) return false;
  if (processors->others_pct >= kMinOthersPct) return true;
  const double cores = timeline.trace().run.cores;
  return cores > 0 && processors->others >= kMinOthersShare * cores && processors->busy >= kCrowded * cores;
}

std::string ThreadsText(std::int64_t threads, int ranks) {
  const std::string each = Counted(static_cast<std::uint64_t>(threads), "thread");
  return ranks == 1 ? each : fmt::format("{} ranks of {}", ranks, each);
}

}  // namespace loopscope
