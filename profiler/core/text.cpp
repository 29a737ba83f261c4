#include "profiler/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loopscope {
namespace {

std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = Trimmed(text.substr(0, comma));
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return items;
}

std::string Nearest(std::string_view word, std::span<const std::string> choices) {
  std::string nearest;
  // A third of a word, two letters of a short one, but never all of it.
  std::size_t fewest = std::min(std::max<std::size_t>(2, word.size() / 3) + 1, word.size());
  for (const std::string& choice : choices) {
    const bool begins = word.size() >= 3 && choice.starts_with(word);
    const std::size_t edits = begins ? 0 : Edits(word, choice);
    if (edits < fewest) {
      fewest = edits;
      nearest = choice;
    }
  }
  return nearest;
}

std::uint64_t TextHash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::string LastLines(std::string_view text, int lines) {
  constexpr std::size_t kMost = 2048;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::size_t start = text.size();
  while (start > 0 && text.size() - start < kMost) {
    if (text[start - 1] == '\n' && --lines == 0) break;
    --start;
  }
  return std::string(text.substr(start));
}

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
