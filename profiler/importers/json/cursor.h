// Reads JSON values one after another from a window. Made for text that is known to be balanced and padded: a malformed
// scalar fails the value that contains it, and nothing is read past the padding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/importers/json/windows.h"

namespace loopscope {

class JsonCursor {
 public:
  // kJsonPadding zeros must follow `text`.
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  const char* at() const { return at_; }
  void Return(const char* at) { at_ = at; }
  bool done() const { return at_ >= end_; }
  void SkipBlanks() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') ++at_;
  }
  // Skips blanks, then takes `wanted` if it is next.
  bool Take(char wanted) {
    SkipBlanks();
    if (*at_ != wanted || at_ >= end_) return false;
    ++at_;
    return true;
  }
  char Next() {  // the next non-blank byte, not taken; 0 at the end
    SkipBlanks();
    return at_ < end_ ? *at_ : '\0';
  }

  // Takes a string and returns its raw text, between the quotes. False when there is none.
  bool String(std::string_view& raw);
  // Takes a number and returns it times 10^decimals, rounded; false when it is not a number or does not fit.
  bool Scaled(int decimals, std::int64_t& value);
  bool Whole(std::int64_t& value) { return Scaled(0, value); }
  // Takes any value. False when its brackets or strings do not end.
  bool Skip() {
    std::string_view raw;
    return Raw(raw);
  }
  // The same, and returns its text.
  bool Raw(std::string_view& raw);

 private:
  bool Exponent(std::int64_t& value, const char* number, int decimals);

  const char* at_;
  const char* end_;
};

// Unescapes a raw string. Escapes that JSON does not define stay as they are.
std::string UnescapedJson(std::string_view raw);

}  // namespace loopscope
