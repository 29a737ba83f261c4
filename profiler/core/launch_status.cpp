#include "profiler/core/launch_status.h"

#include <array>

namespace loopscope {
namespace {

// In the order of LaunchEnd; a detail follows where the name ends with a space.
constexpr std::array<std::string_view, 9> kNames = {
    "ok", "exit ", "signal ", "no steps", "timeout", "interrupted", "took no turns", "not comparable: ", ""};

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::string LaunchStatus::Text() const {
  return std::string(kNames.at(static_cast<std::size_t>(end))) + detail;
}

LaunchStatus LaunchStatus::Of(std::string_view text) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(LaunchEnd::kOther); ++i) {
    const auto end = static_cast<LaunchEnd>(i);
    const std::string_view name = kNames[i];
    if (!text.starts_with(name)) continue;
    const std::string_view detail = text.substr(name.size());
    const bool numbered = end == LaunchEnd::kExit || end == LaunchEnd::kSignal;
    const bool fits = numbered ? IsNumber(detail) : detail.empty() || end == LaunchEnd::kNotComparable;
    if (fits) return {end, std::string(detail)};
  }
  return {LaunchEnd::kOther, std::string(text)};
}

}  // namespace loopscope
