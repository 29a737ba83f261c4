// This user's cache folder.
#pragma once

#include <filesystem>

namespace loopscope {

// $XDG_CACHE_HOME, else $HOME/.cache; empty where neither is an absolute path.
std::filesystem::path UserCache();

}  // namespace loopscope
