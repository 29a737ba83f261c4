// Cache folders that the launches of one experiment share, so that a program downloads or builds files only once.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/system/environment.h"

namespace loopscope {

// Writes of launches are thrown away, so each would download a dataset in ~/.cache again. Instead, all later launches
// find what the first launch of each command wrote to its caches; their own writes are thrown away.
class SharedCaches {
 public:
  // `folder`: private; created on first use.
  explicit SharedCaches(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Call after a successful launch of command `side`. Only the first one per command counts.
  void Take(const ContainedWorld& world, int side, const Environment& environment);

  const std::vector<FilledCache>& filled() const { return filled_; }

 private:
  std::filesystem::path folder_;
  std::set<int> sides_;
  std::vector<FilledCache> filled_;
};

// The folders where programs in this environment keep caches: XDG (~/.cache), torch and Hugging Face. Absolute paths,
// none inside another, and none that contains `working_directory`, whose files are not a cache.
std::vector<std::filesystem::path> CacheFolders(const Environment& environment,
                                                const std::filesystem::path& working_directory);

}  // namespace loopscope
