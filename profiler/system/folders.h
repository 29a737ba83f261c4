// Where a folder lies: whether it contains a path, by name; whether it is on another machine.
#pragma once

#include <algorithm>
#include <filesystem>

namespace loopscope {

// Whether `path` is `folder` or lies in it; no link is followed.
inline bool Holds(const std::filesystem::path& folder, const std::filesystem::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Whether the folder is on a network's file system, or on one that a program provides (FUSE), as far as is known.
bool IsOnNetwork(const std::filesystem::path& folder);

}  // namespace loopscope
