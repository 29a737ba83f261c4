#include "analyzers/shared/facts.h"

#include <charconv>
#include <string>

namespace loopscope {

namespace {

std::string_view FactOf(const std::map<std::string, std::string>& facts, std::string_view key) {
  const auto fact = facts.find(std::string(key));
  return fact == facts.end() ? std::string_view() : std::string_view(fact->second);
}

}  // namespace

std::string_view FactOf(const Trace& trace, std::string_view key) {
  return FactOf(trace.facts, key);
}

std::optional<std::int64_t> NumberFact(const std::map<std::string, std::string>& facts, std::string_view key) {
  const std::string_view text = FactOf(facts, key);
  const char* const last = text.data() + text.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> NumberFact(const Trace& trace, std::string_view key) {
  return NumberFact(trace.facts, key);
}

}  // namespace loopscope
