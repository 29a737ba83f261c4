#include "profiler/cli/option_values.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "profiler/core/text.h"

namespace loopscope {
namespace {

// A plain number at the start of `text`, which keeps the rest.
std::optional<double> TakeNumber(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text = Trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return value;
}

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : rest_(text) {}

  Result<std::vector<std::string>> Split() {
    while (!rest_.empty()) {
      const char c = Take();
      if (c == ' ' || c == '\t' || c == '\n') {
        EndWord();
      } else if (c == '\'' || c == '"') {
        if (!Quoted(c)) return Unclosed(c);
      } else {
        Append(c == '\\' && !rest_.empty() ? Take() : c);
      }
    }
    EndWord();
    return std::move(words_);
  }

 private:
  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void Append(char c) {
    word_ += c;
    in_word_ = true;
  }

  void EndWord() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  // Within "…" a backslash keeps only what would end or escape.
  bool Quoted(char quote) {
    in_word_ = true;
    while (!rest_.empty()) {
      const char c = Take();
      if (c == quote) return true;
      const bool escapes =
          quote == '"' && c == '\\' && !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\\');
      Append(escapes ? Take() : c);
    }
    return false;
  }

  static Error Unclosed(char quote) {
    return {std::string("a quote (") + quote + ") is not closed", "command", "close it, or escape it with \\"};
  }

  std::string_view rest_;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::optional<double> ParseSeconds(std::string_view text) {
  text = Trimmed(text);
  const std::optional<double> number = TakeNumber(text);
  if (!number) return std::nullopt;
  if (text.empty() || text == "s") return *number;
  if (text == "ms") return *number * 1e-3;
  if (text == "m" || text == "min") return *number * 60;
  if (text == "h") return *number * 3600;
  return std::nullopt;
}

std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const std::optional<double> number = TakeNumber(text);
  if (!number) return std::nullopt;
  double bytes = *number;
  if (!text.empty() && text != "B") {
    const std::size_t unit = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.front()))));
    const std::string_view rest = text.substr(1);
    if (unit == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB")) return std::nullopt;
    bytes = std::ldexp(bytes, 10 * static_cast<int>(unit + 1));
  }
  constexpr double kMost = 1ull << 60;
  return bytes < kMost ? std::optional(static_cast<std::uint64_t>(bytes)) : std::nullopt;
}

std::optional<std::uint64_t> ParseCaptureBytes(std::string_view text) {
  const std::optional<std::uint64_t> bytes = ParseBytes(text);
  return bytes >= 8ull << 20 && bytes <= 32ull << 30 ? bytes : std::nullopt;
}

std::optional<int> ParseCount(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<std::optional<int>> ParseWarmup(std::string_view text) {
  std::optional<std::optional<int>> warmup;
  if (text == "auto") {
    warmup.emplace();
  } else if (const auto count = ParseCount(text)) {
    warmup.emplace(*count);
  }
  return warmup;
}

std::optional<std::uint64_t> ParseSeed(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> ParsePath(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(std::string(text));
}

std::optional<double> ParseShare(std::string_view text) {
  text = Trimmed(text);
  const std::optional<double> number = TakeNumber(text);
  if (!number || *number >= 100 || !(text.empty() || text == "%")) return std::nullopt;
  return *number / 100;
}

Result<std::vector<std::string>> SplitWords(std::string_view text) {
  return WordSplitter(text).Split();
}

}  // namespace loopscope
