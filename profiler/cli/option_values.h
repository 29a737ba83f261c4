// Parses values from the command line and from files: durations, shares, counts, words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// "90s", "15m", "1.5h", "500ms", "90" (seconds) in seconds; empty when it is none of these or negative.
std::optional<double> ParseSeconds(std::string_view text);

std::optional<int> ParseCount(std::string_view text);  // a whole number that is not negative; empty for all else

// "500M", "2G", "1.5 GiB" (powers of 1024) or a plain number, in bytes; empty when it is none of these.
std::optional<std::uint64_t> ParseBytes(std::string_view text);

// Likewise, from 8M to 32G: below, most of a recording lies in chunks that some thread is filling; above, the recorder
// numbers no more chunks.
std::optional<std::uint64_t> ParseCaptureBytes(std::string_view text);

// "2", "2%" or "2 %" as the share 0.02; empty when it is none of these, negative, or 100 or more.
std::optional<double> ParseShare(std::string_view text);

// "auto", which is an empty value, or a count; empty for all else.
std::optional<std::optional<int>> ParseWarmup(std::string_view text);

std::optional<std::uint64_t> ParseSeed(std::string_view text);  // a whole number of 64 bits, not negative

std::optional<std::string> ParsePath(std::string_view text);  // empty where it is

// Splits words as a shell does: blanks separate them; '…', "…" and \ keep them together. Nothing is expanded. Error
// (exit 2): a quote that is not closed.
Result<std::vector<std::string>> SplitWords(std::string_view text);

}  // namespace loopscope
