// Folders: whether one contains a path, whether it is on another machine, and this user's cache.
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

// $XDG_CACHE_HOME, else $HOME/.cache; empty where neither is an absolute path.
std::filesystem::path UserCache();

}  // namespace loopscope
