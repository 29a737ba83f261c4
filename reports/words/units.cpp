#include "reports/words/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace loopscope {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// Three digits: "1.23", "12.3", "123". Whole numbers above, with an exponent where they would be long.
std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// In the largest unit of which there is at least one, else in the first; units ascend.
std::string InUnits(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) return "?";
  const Unit* unit = &units.front();
  for (const Unit& larger : units) {
    if (std::abs(value) >= larger.size * 0.9995) unit = &larger;
  }
  return fmt::format("{}{}", ThreeDigits(value / unit->size), unit->name);
}

}  // namespace

std::string HumanMs(double ms) {
  constexpr Unit kUnits[] = {{1e-6, " ns"}, {1e-3, " µs"}, {1, " ms"}, {1e3, " s"}, {6e4, " min"}, {3.6e6, " h"}};
  return ms == 0 ? "0 ms" : InUnits(ms, kUnits);
}

std::string HumanBytes(double bytes) {
  constexpr Unit kUnits[] = {{1, " B"}, {1e3, " kB"}, {1e6, " MB"}, {1e9, " GB"}, {1e12, " TB"}};
  if (std::abs(bytes) < 1e3) return fmt::format("{:.0f} B", bytes);
  return InUnits(bytes, kUnits);
}

std::string HumanCount(double count) {
  constexpr Unit kUnits[] = {{1e3, " k"}, {1e6, " M"}, {1e9, " G"}};
  if (std::abs(count) < 1e3) return fmt::format("{:.0f}", count);
  return InUnits(count, kUnits);
}

std::string HumanPct(double pct) {
  if (!std::isfinite(pct)) return "?";
  if (std::abs(pct) >= 1e4) return fmt::format("{:.3g} %", pct);
  return fmt::format("{:.{}f} %", pct, std::abs(pct) < 9.95 ? 1 : 0);
}

std::string HumanP(double p) {
  if (!std::isfinite(p)) return "?";
  if (p < 0.001) return "<0.001";
  return fmt::format("{:.{}f}", p, p < 0.0995 ? 3 : 2);
}

std::string HumanSpeedup(double speedup, const std::optional<std::array<double, 2>>& ci95) {
  const auto number = [](double value) {
    if (!std::isfinite(value)) return std::string("?");
    const bool plain = std::abs(value) < 1000 && std::abs(value) >= 0.01;
    return plain ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
  };
  std::string text = number(speedup) + "x";
  if (ci95) text += fmt::format(" [{}, {}]", number((*ci95)[0]), number((*ci95)[1]));
  return text;
}

std::vector<std::string> RoundedToSum(std::span<const double> parts, int decimals) {
  const double scale = std::pow(10, decimals);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<double> units;
  for (const double part : parts) units.push_back(std::floor(part * scale));
  std::vector<std::size_t> by_remainder(parts.size());
  std::iota(by_remainder.begin(), by_remainder.end(), 0);
  std::ranges::stable_sort(by_remainder, std::greater(), [&](std::size_t i) { return parts[i] * scale - units[i]; });
  double missing = std::round(sum * scale) - std::accumulate(units.begin(), units.end(), 0.0);
  for (const std::size_t index : by_remainder) {
    if (missing < 0.5) break;
    units[index] += 1;
    missing -= 1;
  }
  std::vector<std::string> texts;
  for (const double unit : units) texts.push_back(fmt::format("{:.{}f}", unit / scale, decimals));
  return texts;
}

}  // namespace loopscope
