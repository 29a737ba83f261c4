// The importer seam: one trace format is one file in profiler/importers/ and one line in importers.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

struct Input {
  std::filesystem::path path;     // a file, or a run folder
  std::uint32_t process = 0;      // pid to read when the file holds several; 0: the one that trains
  std::string process_name = {};  // for a process that the file names instead of numbering: "rank0:4242"
};

inline constexpr std::size_t kHeadBytes = 4096;

struct Importer {
  std::string_view id;                   // "capture"
  bool (*sniff)(std::string_view head);  // whether it reads a file with these first bytes (up to kHeadBytes)
  Result<Trace> (*read)(const Input&);
  std::string_view what;  // what it reads, for people: "a trace of torch.profiler (.json, .json.gz)"
  // Whether it reads a folder that holds files with these names; null: it does not read folders.
  bool (*reads_folder)(std::span<const std::string> names) = nullptr;
};

}  // namespace loopscope
