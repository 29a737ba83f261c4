#include "analyzers/facts.h"

#include <charconv>
#include <string>

namespace loopscope {

std::string_view FactOf(const Trace& trace, std::string_view key) {
  const auto fact = trace.facts.find(std::string(key));
  return fact == trace.facts.end() ? std::string_view() : std::string_view(fact->second);
}

std::optional<std::int64_t> NumberFact(const Trace& trace, std::string_view key) {
  const std::string_view text = FactOf(trace, key);
  const char* const last = text.data() + text.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

}  // namespace loopscope
