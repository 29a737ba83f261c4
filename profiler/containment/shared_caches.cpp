#include "profiler/containment/shared_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/system/folders.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<fs::path> CacheFolders(const Environment& environment, const fs::path& working_directory) {
  std::vector<fs::path> named;
  const auto add = [&](const char* variable, const char* below) {
    const auto value = environment.find(variable);
    if (value == environment.end() || !value->second.starts_with('/')) return false;
    std::error_code error;
    fs::path folder = fs::weakly_canonical(fs::path(value->second) / below, error);
    if (!folder.has_filename()) folder = folder.parent_path();
    if (!error && !Holds(folder, working_directory)) named.push_back(std::move(folder));
    return true;
  };
  if (!add("XDG_CACHE_HOME", "")) add("HOME", ".cache");
  for (const char* variable : {"TORCH_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE"}) add(variable, "");
  std::ranges::sort(named);
  std::vector<fs::path> folders;
  for (fs::path& folder : named) {
    if (folders.empty() || !Holds(folders.back(), folder)) folders.push_back(std::move(folder));
  }
  return folders;
}

void SharedCaches::Take(const ContainedWorld& world, int side, const Environment& environment) {
  if (!sides_.insert(side).second) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  int number = 0;
  for (const fs::path& path : CacheFolders(environment, world.working_directory())) {
    const fs::path layer = folder_ / fmt::format("{}-{}", side, number++);
    if (!world.Take(path, layer)) continue;
    const auto filled = std::ranges::find(filled_, path, &FilledCache::path);
    if (filled == filled_.end()) {
      filled_.push_back({path, {layer}});
    } else {
      filled->layers.insert(filled->layers.begin(), layer);
    }
  }
}

}  // namespace loopscope
