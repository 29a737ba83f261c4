// The mounts that turn every writable tree a program can see into a throw-away overlay of itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loopscope {

struct MountPoint {
  std::string path, type;
  bool read_only = false;
};

// The text of /proc/self/mountinfo; of several mounts on one path the last, which hides the others.
std::vector<MountPoint> ParseMountInfo(std::string_view text);

struct MountStep {
  enum class Kind {
    kOverlay,       // of `source` at `target`, writes going to its upper folder; read-only where that fails
    kBind,          // `source` and all mounts below it as they are
    kReadOnlyBind,  // the same, not writable
    kSymlink,       // a link to `source`
    kFile,          // one file, not writable
    kHidden,        // an empty folder
    kMemory,        // an overlay whose writes go to a tmpfs of its own; `source` as it is where that fails
    kCache,         // an overlay that shows a folder of caches as launches before left it; left out where that fails
  };
  Kind kind;
  std::string source;   // a path before, or the text of a link
  std::string target;   // a path below the new root
  std::string options;  // of the overlay
  // Folders of the overlay made before it is mounted, `first` with the owner and permissions of `second`; the first
  // is its upper folder, of kMemory the tmpfs that holds them.
  std::vector<std::pair<std::string, std::string>> folders = {};
};

struct MountPlan {
  std::string root;    // folder on which the new root is assembled
  std::string layers;  // folder of the overlays' upper and work folders: <layers>/<n>/{upper,work}
  int overlays = 0;    // how many
  std::vector<MountStep> steps;
};

// A folder of caches with what launches before wrote into it.
struct FilledCache {
  std::filesystem::path path;                 // of the user's folder, which need not exist
  std::vector<std::filesystem::path> layers;  // what was written, the newest first; not empty
};

// What the plan is made for.
struct MountRequest {
  std::filesystem::path root, layers;
  std::filesystem::path hidden;    // holds the layers: not to be seen from inside
  std::filesystem::path writable;  // stays really writable at its own path
  // Folders that the program is likely to write to (its working folder, HOME …). An ordinary user's overlay cannot
  // change what lies in another owner's folder, unless the folders on the way are in the upper layer beforehand.
  std::vector<std::filesystem::path> likely;
  bool user_namespace = false;  // mounts below a folder are then locked, and an overlay cannot span them
  std::vector<FilledCache> caches = {};
};
// Folders of sockets and kernel interfaces are left as they are, but for shared memory (/dev/shm) and for disks that
// are mounted below them.
MountPlan PlanMounts(const MountRequest& request, const std::vector<MountPoint>& mounts);

// Whether what is written to `path` is thrown away: an overlay is the innermost of the steps that hold it.
bool IsOverlaid(const MountPlan& plan, const std::filesystem::path& path);

// Where what is written to `path` lies until it is thrown away; empty where it is not thrown away, or kept in memory.
std::filesystem::path WrittenTo(const MountPlan& plan, const std::filesystem::path& path);

// For overlayfs options, where ',' ':' and '\' part things.
std::string EscapeOverlayPath(std::string_view path);

}  // namespace loopscope
