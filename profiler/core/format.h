// The report format seam: one format is one file in reports/ and one line in formats.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

struct OutputFile {
  std::string name, bytes;
};

// Where a format writes: bytes in memory; the caller puts them where they belong.
struct Output {
  std::string bytes;
  bool color = false;  // ANSI colours are welcome
  int columns = 80;
  std::vector<OutputFile> files;  // of a format that is a folder, in place of `bytes`
};

struct Format {
  std::string_view id;       // "text", "json"
  std::string_view purpose;  // "a page that works offline"
  Result<void> (*write)(const Report&, Output&);
  bool folder = false;  // it is several files
};

}  // namespace loopscope
