#include "profiler/core/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace loopscope {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr std::string_view kEllipsis = "…";

struct CodeRange {
  char32_t first, last;
};

// Format characters, separators and the like, which are invisible or move the text around them (Unicode 15, general
// categories Cf, Zl, Zp, Co and noncharacters of the BMP).
constexpr auto kInert = std::to_array<CodeRange>(
    {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},
     {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
     {0xe000, 0xf8ff},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
     {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1345f},
     {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}});

// Blocks whose characters take two columns (Unicode 15, East_Asian_Width W and F, joined where only unassigned code
// points lie between).
constexpr auto kWide = std::to_array<CodeRange>(
    {{0x1100, 0x115e},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23f3},   {0x25fd, 0x25fe},
     {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
     {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
     {0x2728, 0x2728},   {0x274c, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27bf},   {0x2b1b, 0x2b1c},
     {0x2b50, 0x2b55},   {0x2e80, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
     {0xfe10, 0xfe19},   {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x1b2fb},
     {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f1ad}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff},
     {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1faff}, {0x20000, 0x3fffd}});

template <std::size_t kSize>
bool Contains(const std::array<CodeRange, kSize>& ranges, char32_t code) {
  const auto range = std::ranges::lower_bound(ranges, code, {}, &CodeRange::last);
  return range != ranges.end() && range->first <= code;
}

std::size_t Width(char32_t code) {
  return Contains(kWide, code) ? 2 : 1;
}

struct Decoded {
  char32_t code;
  std::size_t bytes;  // at least 1
};

// The first character of non-empty text. Overlong forms, surrogates and everything else that is not UTF-8 give
// kReplacement for one byte.
Decoded Decode(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {kReplacement, 1};
  char32_t code = lead & (0x7f >> length);
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xc0) != 0x80) return {kReplacement, 1};
    code = code << 6 | (byte(index) & 0x3f);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return {kReplacement, 1};
  return {code, length};
}

// The longest prefix of whole characters that is at most `columns` wide, in bytes.
std::size_t PrefixBytes(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0, width = 0;
  while (bytes < text.size()) {
    const Decoded next = Decode(text.substr(bytes));
    width += Width(next.code);
    if (width > columns) break;
    bytes += next.bytes;
  }
  return bytes;
}

bool NeedsQuotes(std::string_view argument) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  return argument.empty() || argument.find_first_not_of(kPlain) != argument.npos;
}

}  // namespace

std::string Printable(std::string_view text, std::size_t max_columns) {
  std::string printable;
  std::size_t width = 0, last_fit = 0;  // last_fit: bytes that leave room for the ellipsis
  while (!text.empty()) {
    auto [code, bytes] = Decode(text);
    std::string_view character = text.substr(0, bytes);
    if (code == '\n' || code == '\t' || code == '\r') {
      character = " ";
    } else if (code == kReplacement || Contains(kInert, code)) {
      character = "\xef\xbf\xbd";
    }
    width += Width(code);
    if (width > max_columns) return printable.substr(0, last_fit) + std::string(kEllipsis);
    printable += character;
    if (width + 1 <= max_columns) last_fit = printable.size();
    text.remove_prefix(bytes);
  }
  return printable;
}

std::size_t DisplayWidth(std::string_view printable) {
  std::size_t width = 0;
  while (!printable.empty()) {
    const Decoded next = Decode(printable);
    width += Width(next.code);
    printable.remove_prefix(next.bytes);
  }
  return width;
}

std::vector<std::string> Wrap(std::string_view printable, std::size_t columns) {
  columns = std::max<std::size_t>(columns, 8);
  std::vector<std::string> lines;
  while (true) {
    printable.remove_prefix(std::min(printable.find_first_not_of(' '), printable.size()));
    std::size_t cut = PrefixBytes(printable, columns);
    if (cut < printable.size() && printable[cut] != ' ') {
      const std::size_t space = printable.substr(0, cut).rfind(' ');
      if (space != printable.npos) cut = space;
    }
    std::string_view line = printable.substr(0, cut);
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    if (!line.empty() || lines.empty()) lines.emplace_back(line);
    printable.remove_prefix(cut);
    if (printable.empty()) return lines;
  }
}

std::string ShellQuoted(const std::vector<std::string>& command, std::size_t max_columns) {
  const std::size_t enough = 4 * max_columns + 8;  // bytes; Printable cuts the rest anyway
  std::string line;
  for (const std::string& whole : Redacted(command)) {
    if (line.size() > enough) break;
    const std::string_view argument = std::string_view(whole).substr(0, enough);
    if (!line.empty()) line += ' ';
    if (!NeedsQuotes(argument)) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char byte : argument) byte == '\'' ? line.append("'\\''") : line.append(1, byte);
    line += '\'';
  }
  return Printable(line, max_columns);
}

}  // namespace loopscope
