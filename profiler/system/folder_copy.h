// A fresh copy of a folder for one launch, where the kernel allows no overlay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

struct FolderSize {
  std::uintmax_t bytes = 0;
  int files = 0;
  bool within_limits = true;
  std::string why;                     // when it is not: "more than 2.0 GiB"
  std::vector<std::string> links_out;  // "checkpoints -> /data/checkpoints": links to what we may write to elsewhere
};

// Counts until a limit is passed. `left_out` is not part of it; symbolic links are not followed.
FolderSize MeasureFolder(const std::filesystem::path& folder, const std::filesystem::path& left_out,
                         std::uintmax_t max_bytes, int max_files);

// Files, folders, permissions and symbolic links as they are, except that relative links that lead out of `from` become
// absolute; sockets, pipes and devices are left out, and so is `left_out`. Error (exit 2): a file that cannot be read,
// or no space.
Result<void> CopyFolder(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::filesystem::path& left_out);

// Moves a file or folder, also between file systems. Error (exit 2): the source is then left intact.
Result<void> MovePath(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace loopscope
