#include "tests/support/case_tokens.h"

#include <charconv>
#include <cstdlib>

namespace loopscope::test {
namespace {

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && letter == '#') {
      break;
    } else if (!quoted && (letter == ' ' || letter == '\t')) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += letter;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

// A number and the unit after it; false when there is no number.
bool SplitUnit(std::string_view word, double& number, std::string_view& unit) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || number < 0) return false;
  unit = word.substr(static_cast<std::size_t>(end - word.data()));
  return true;
}

double NanosecondsOf(std::string_view unit) {
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
}

}  // namespace

std::vector<CaseLine> SplitLines(std::string_view text) {
  std::vector<CaseLine> lines;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    std::vector<std::string> words = Words(line);
    const std::size_t indent = line.find_first_not_of(' ');
    if (!words.empty()) lines.push_back({number, static_cast<int>(indent), std::move(words)});
  }
  return lines;
}

bool IsTime(std::string_view word) {
  double number = 0;
  std::string_view unit;
  return SplitUnit(word, number, unit) && NanosecondsOf(unit) > 0;
}

std::int64_t ReadTime(std::string_view word, int line) {
  double number = 0;
  std::string_view unit;
  if (!SplitUnit(word, number, unit) || NanosecondsOf(unit) == 0) {
    throw CaseError{line, "'" + std::string(word) + "' is no length of time (1.5ms, 20us, 300ns, 2s)"};
  }
  return static_cast<std::int64_t>(number * NanosecondsOf(unit));
}

std::uint64_t ReadBytes(std::string_view word, int line) {
  double number = 0;
  std::string_view unit;
  const bool is_number = SplitUnit(word, number, unit);
  const double factor = unit.empty() ? 1 : unit == "KB" ? 1e3 : unit == "MB" ? 1e6 : unit == "GB" ? 1e9 : 0;
  if (!is_number || factor == 0) throw CaseError{line, "'" + std::string(word) + "' is no size (1000, 8KB, 64MB, 1GB)"};
  return static_cast<std::uint64_t>(number * factor);
}

double ReadNumber(std::string_view word, int line) {
  double number = 0;
  std::string_view unit;
  if (!SplitUnit(word, number, unit) || !unit.empty()) {
    throw CaseError{line, "'" + std::string(word) + "' is no number"};
  }
  return number;
}

int ReadRepeat(std::string_view word) {
  if (word.size() < 2 || word[0] != 'x') return 0;
  int count = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), count);
  return error == std::errc() && end == word.data() + word.size() && count > 0 ? count : 0;
}

Where ReadWhere(std::string_view word, int line) {
  const std::size_t colon = word.find(':');
  Where where;
  where.path = word.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : word.substr(colon + 1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), where.line);
  if (where.path.empty() || error != std::errc() || where.line <= 0) {
    throw CaseError{line, "'" + std::string(word) + "' is no place (path:line or path:line:function)"};
  }
  const std::string_view function = rest.substr(static_cast<std::size_t>(end - rest.data()));
  if (!function.empty()) where.function = function.substr(1);
  return where;
}

std::pair<std::string, std::string> SplitAttribute(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {std::string(word), ""};
  const bool bound = equals > 0 && (word[equals - 1] == '<' || word[equals - 1] == '>');
  return {std::string(word.substr(0, bound ? equals + 1 : equals)), std::string(word.substr(equals + 1))};
}

}  // namespace loopscope::test
