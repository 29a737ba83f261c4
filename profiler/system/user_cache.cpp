#include "profiler/system/user_cache.h"

#include <cstdlib>
#include <utility>

namespace loopscope {

std::filesystem::path UserCache() {
  for (const auto& [name, below] : {std::pair{"XDG_CACHE_HOME", ""}, std::pair{"HOME", ".cache"}}) {
    const char* const folder = std::getenv(name);
    if (folder != nullptr && *folder == '/') return std::filesystem::path(folder) / below;
  }
  return {};
}

}  // namespace loopscope
