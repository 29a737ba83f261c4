// The words of a .case file: lines with their indentation, `key=value` attributes, lengths of time and sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope::test {

struct CaseLine {
  int number = 0, indent = 0;
  std::vector<std::string> words;  // "…" keeps blanks together
};

// Thrown inside the reader, turned into an Error at its edge.
struct CaseError {
  int line;
  std::string what;
};

// Comments (# to the end of a line, outside quotes) and empty lines are left out.
std::vector<CaseLine> SplitLines(std::string_view text);

// "1.5ms" → 1'500'000; units ns, us, ms, s.
std::int64_t ReadTime(std::string_view word, int line);
bool IsTime(std::string_view word);

// "64MB" → 64'000'000; units none, KB, MB, GB.
std::uint64_t ReadBytes(std::string_view word, int line);

double ReadNumber(std::string_view word, int line);

// "x12" → 12; anything else is not a repetition: 0.
int ReadRepeat(std::string_view word);

// "train.cpp:41" or "train.cpp:41:TrainEpoch".
Where ReadWhere(std::string_view word, int line);

// "a=b" → {a, b}; "cost>=2" → {"cost>=", "2"}; a bare word has an empty value.
std::pair<std::string, std::string> SplitAttribute(std::string_view word);

}  // namespace loopscope::test
