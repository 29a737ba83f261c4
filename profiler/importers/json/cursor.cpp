#include "profiler/importers/json/cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace loopscope {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 62;

// The next quote or backslash from `at` on; may return a place past `end`.
const char* FindQuote(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; at < end; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    if (found) return at + std::countr_zero(static_cast<unsigned>(found));
  }
#else
  while (at < end && *at != '"' && *at != '\\') ++at;
#endif
  return at;
}

bool IsDigit(char byte) {
  return byte >= '0' && byte <= '9';
}

int HexDigit(char byte) {
  if (IsDigit(byte)) return byte - '0';
  const int letter = byte | 0x20;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// The four hex digits after "\u" at `at`; -1 when they are malformed.
int CodeUnit(std::string_view raw, std::size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const int digit = HexDigit(raw[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void AppendUtf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr int kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more] | static_cast<int>(point >> (6 * more)));
  for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (point >> (6 * i) & 0x3f));
}

// Appends the character of the "\u" escape at `at`; returns how many bytes of `raw` it took.
std::size_t AppendCodePoint(std::string_view raw, std::size_t at, std::string& text) {
  const int unit = CodeUnit(raw, at);
  if (unit < 0) {
    text += raw[at];
    return 1;
  }
  const int low = unit >= 0xd800 && unit < 0xdc00 ? CodeUnit(raw, at + 6) : -1;
  if (low >= 0xdc00 && low < 0xe000) {
    AppendUtf8(text,
               0x10000u + (static_cast<std::uint32_t>(unit - 0xd800) << 10) + static_cast<std::uint32_t>(low - 0xdc00));
    return 12;
  }
  AppendUtf8(text, unit >= 0xd800 && unit < 0xe000 ? 0xfffdu : static_cast<std::uint32_t>(unit));
  return 6;
}

}  // namespace

bool JsonCursor::String(std::string_view& raw) {
  if (Next() != '"') return false;
  const char* const begin = ++at_;
  for (const char* found = begin;; found += 2) {
    found = FindQuote(found, end_);
    if (found >= end_) return false;
    if (*found == '\\') continue;
    raw = {begin, static_cast<std::size_t>(found - begin)};
    at_ = found + 1;
    return true;
  }
}

// A number with an exponent, or one of so many digits that only its size matters.
bool JsonCursor::Exponent(std::int64_t& value, const char* number, int decimals) {
  double real = 0;
  const auto [end, error] = std::from_chars(number, end_, real);
  if (error != std::errc()) return false;
  at_ = end;
  for (int i = 0; i < decimals; ++i) real *= 10;
  if (!(std::fabs(real) < static_cast<double>(kMaxNumber))) return false;
  value = std::llround(real);
  return true;
}

bool JsonCursor::Scaled(int decimals, std::int64_t& value) {
  const char first = Next();
  const char* const number = at_;
  const bool negative = first == '-';
  const char* at = at_ + negative;
  if (!IsDigit(*at)) return false;
  std::int64_t total = 0;
  const char* const digits = at;
  for (; IsDigit(*at); ++at) {
    total = total * 10 + (*at - '0');
    if (at - digits >= 17) return Exponent(value, number, decimals);
  }
  if (*at == '.') ++at;
  bool up = false;
  int left = decimals;
  if (at[-1] == '.') {
    for (; left > 0 && IsDigit(*at); --left, ++at) total = total * 10 + (*at - '0');
    up = IsDigit(*at) && *at >= '5';
    while (IsDigit(*at)) ++at;
  }
  if ((*at | 0x20) == 'e') return Exponent(value, number, decimals);
  for (; left > 0; --left) {
    if (total > kMaxNumber / 10) return false;
    total *= 10;
  }
  if (at > end_ || total > kMaxNumber) return false;
  at_ = at;
  value = negative ? -(total + up) : total + up;
  return true;
}

bool JsonCursor::Raw(std::string_view& raw) {
  const char first = Next();
  const char* const begin = at_;
  if (first == '"') {
    if (!String(raw)) return false;
  } else if (first == '{' || first == '[') {
    int depth = 0;
    do {
      const int folded = *at_ | 0x20;
      if (at_ >= end_) return false;
      if (*at_ == '"') {
        std::string_view inner;
        if (!String(inner)) return false;
        continue;
      }
      depth += (folded == '{') - (folded == '}');
      ++at_;
    } while (depth > 0);
  } else {
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
    if (at_ == begin) return false;
  }
  raw = {begin, static_cast<std::size_t>(at_ - begin)};
  return true;
}

std::string UnescapedJson(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      text += raw[at++];
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t known = kEscapes.find(raw[at + 1]);
    if (known != kEscapes.npos) {
      text += kMeanings[known];
      at += 2;
    } else if (raw[at + 1] == 'u') {
      at += AppendCodePoint(raw, at, text);
    } else {
      text += raw[at++];
    }
  }
  return text;
}

}  // namespace loopscope
