#include "analyzers/shared/processors.h"

#include <algorithm>

#include "analyzers/shared/facts.h"

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
  found.delay_ms = *share * timeline.mean_step_ms();
  found.own_delay_ms = found.delay_ms * found.own_share;
  return found;
}

}  // namespace loopscope
