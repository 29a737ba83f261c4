#include "analyzers/processors.h"

#include <algorithm>

#include "analyzers/facts.h"

namespace loopscope {

std::optional<Processors> ProcessorsOf(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const auto window = NumberFact(trace, "processors.window_ns");
  const auto delay = NumberFact(trace, "processors.training_delay_ns");
  const auto own = NumberFact(trace, "processors.own_ns");
  const auto all = NumberFact(trace, "processors.all_ns");
  if (!window || !delay || !own || !all || *window <= 0 || *own <= 0) return std::nullopt;
  Processors found;
  const auto here = NumberFact(trace, "processors.ranks_here");
  found.ranks_here = static_cast<int>(std::max<std::int64_t>(1, here.value_or(trace.run.ranks)));
  const double work = static_cast<double>(*own) * found.ranks_here;
  found.own_share = std::min(1.0, work / std::max(work, static_cast<double>(*all)));
  const double share = static_cast<double>(*delay) / static_cast<double>(*window);
  found.delay_ms = share * timeline.mean_step_ms();
  found.own_delay_ms = found.delay_ms * found.own_share;
  return found;
}

}  // namespace loopscope
