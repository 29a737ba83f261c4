// The importer seam: one trace format is one file in profiler/importers/ and one line in importers.def.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

struct Input {
  std::filesystem::path path;  // a file, or a run folder
  std::uint32_t process = 0;   // of several in one file: its pid; 0: the one that trains
};

struct Importer {
  std::string_view id;  // "capture"
  bool (*sniff)(
      std::string_view head);  // the first bytes (up to 4 KiB) of the file; of a folder: "dir:" + its file names
  Result<Trace> (*read)(const Input&);
  std::string_view what;  // it reads, for people: "a trace of torch.profiler (.json, .json.gz)"
};

}  // namespace loopscope
