#include "analyzers/processors.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace loopscope {

std::optional<std::int64_t> NumberFact(const Trace& trace, std::string_view key) {
  const auto fact = trace.facts.find(std::string(key));
  if (fact == trace.facts.end()) return std::nullopt;
  const std::string& text = fact->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

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
