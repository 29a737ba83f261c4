// Where a program is likely to write.
#pragma once

#include <filesystem>
#include <vector>

namespace loopscope {

// The working folder, HOME, TMPDIR and the cache folder, those that exist. `elsewhere`: also folders below another
// owner's that we may write to (/scratch/project/me, /var/tmp), as far as a short search finds them, which begins
// around the working folder.
std::vector<std::filesystem::path> LikelyFolders(const std::filesystem::path& working_directory, bool elsewhere);

}  // namespace loopscope
