// What a program fetches or makes once: the folders of caches that the launches of one experiment share.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/system/environment.h"

namespace loopscope {

// A data set in ~/.cache would be fetched anew by each launch, since what launches write is thrown away. So what the
// first one of each command wrote into its caches is what all later ones find there; what these write is thrown away.
class SharedCaches {
 public:
  // `folder`: private; made when it is first needed.
  explicit SharedCaches(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // After a launch of command `side` that ended well. Only the first of each counts.
  void Take(const ContainedWorld& world, int side, const Environment& environment);

  const std::vector<FilledCache>& filled() const { return filled_; }

 private:
  std::filesystem::path folder_;
  std::set<int> sides_;
  std::vector<FilledCache> filled_;
};

// The folders in which this environment's programs keep caches: those of XDG (~/.cache), torch and Hugging Face.
// Absolute; none lies in another; none holds `working_directory`, whose files are no cache.
std::vector<std::filesystem::path> CacheFolders(const Environment& environment,
                                                const std::filesystem::path& working_directory);

}  // namespace loopscope
