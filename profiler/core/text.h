// Lists, words and counts as people write them, suggestions for mistyped words, and a hash that identifies a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loopscope {

std::string_view Trimmed(std::string_view text);  // without blanks and tabs at its ends

std::vector<std::string> SplitList(std::string_view text);  // at commas, blanks around items dropped, empty ones too

std::vector<std::string> SplitLines(std::string_view text);  // without their ends; the last one needs none

// The choice closest to `word` by edit distance; empty when none is close.
std::string Nearest(std::string_view word, std::span<const std::string> choices);

// The last `lines` lines of a text, at most 2 KiB.
std::string LastLines(std::string_view text, int lines);

std::uint64_t TextHash(std::string_view text);  // FNV-1a, 64 bit: identifies a text

// Counts as people write them: "1 call", "2.5 calls", "160 times". Counts that are not finite give "?".

// Three digits, never an exponent: "1", "3.25", "160", "12,300".
std::string CountText(double count);
// "once", "twice", "160 times", "2.5 times".
std::string TimesText(double count);
// "1 call", "1.5 calls"; the plural is the singular with an s unless it is given.
std::string Counted(double count, std::string_view singular, std::string_view plural = {});

}  // namespace loopscope
