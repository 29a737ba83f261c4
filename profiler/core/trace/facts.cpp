#include "profiler/core/trace/facts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace loopscope {
namespace {

std::string_view Read(const FactMap& facts, std::string_view key, std::string_view which) {
  std::string full(key);
  if (const std::size_t at = full.find("{}"); at != full.npos) full.replace(at, 2, which);
  const auto fact = facts.find(full);
  return fact == facts.end() ? std::string_view() : std::string_view(fact->second);
}

}  // namespace

std::string_view FactOf(const FactMap& facts, facts::Key key, std::string_view which) {
  return Read(facts, key.text, which);
}

std::string_view FactOf(const Trace& trace, facts::Key key, std::string_view which) {
  return Read(trace.facts, key.text, which);
}

std::optional<std::int64_t> NumberFact(const FactMap& facts, facts::NumberKey key, std::string_view which) {
  const std::string_view text = Read(facts, key.text, which);
  const char* const last = text.data() + text.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> NumberFact(const Trace& trace, facts::NumberKey key, std::string_view which) {
  return NumberFact(trace.facts, key, which);
}

namespace {

constexpr int kMost = 1024;  // a file may claim anything

int Number(const Trace& trace, facts::NumberKey key, int otherwise, int least) {
  const auto number = NumberFact(trace, key);
  return number ? static_cast<int>(std::clamp<std::int64_t>(*number, least, kMost)) : otherwise;
}

}  // namespace

LoaderDepth LoaderDepthOf(const Trace& trace) {
  const LoaderDepth usual;
  return {.workers = Number(trace, "loader.workers", usual.workers, 0),
          .prefetch = Number(trace, "loader.prefetch", usual.prefetch, 1)};
}

}  // namespace loopscope
