#include "profiler/cli/option_values.h"

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

std::optional<int> ParseCount(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
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
