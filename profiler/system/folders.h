// Whether a folder contains a path, by name.
#pragma once

#include <algorithm>
#include <filesystem>

namespace loopscope {

// Whether `path` is `folder` or lies in it; no link is followed.
inline bool Holds(const std::filesystem::path& folder, const std::filesystem::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace loopscope
