// The report format seam: one format is one file in reports/ and one line in formats.def.
#pragma once

#include <string>
#include <string_view>

#include "profiler/core/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// Where a format writes: bytes in memory; the caller puts them where they belong.
struct Output {
  std::string bytes;
  bool color = false;  // ANSI colours are welcome
  int columns = 80;
};

struct Format {
  std::string_view id;  // "text", "json"
  Result<void> (*write)(const Report&, Output&);
};

}  // namespace loopscope
