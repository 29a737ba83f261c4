#include "profiler/core/counted.h"

#include <fmt/format.h>

#include <cmath>

namespace loopscope {

std::string CountText(double count) {
  if (!std::isfinite(count)) return "?";
  if (std::abs(count) < 99.95) return fmt::format("{:.3g}", count);
  if (std::abs(count) >= 1e15) return fmt::format("{:.3g}", count);
  // Show three digits of a mean; a whole number is exact.
  const bool whole = count == std::floor(count);
  const double size = whole ? 1 : std::pow(10, std::floor(std::log10(std::abs(count))) - 2);
  std::string digits = fmt::format("{:.0f}", std::round(count / size) * size);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string TimesText(double count) {
  if (count == 1) return "once";
  if (count == 2) return "twice";
  return CountText(count) + " times";
}

std::string Counted(double count, std::string_view singular, std::string_view plural) {
  const std::string text = CountText(count);
  if (text == "1") return fmt::format("1 {}", singular);
  return plural.empty() ? fmt::format("{} {}s", text, singular) : fmt::format("{} {}", text, plural);
}

}  // namespace loopscope
