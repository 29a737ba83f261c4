#include "profiler/commands/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace loopscope {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// A plain number at the start of `text`, which keeps the rest.
std::optional<double> TakeNumber(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text = Trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return value;
}

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

Result<std::vector<std::string>> SplitWords(std::string_view text) {
  return WordSplitter(text).Split();
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

}  // namespace loopscope
