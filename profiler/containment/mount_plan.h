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

// Parses /proc/self/mountinfo; of several mounts on one path, keeps the last, which hides the others.
std::vector<MountPoint> ParseMountInfo(std::string_view text);

struct MountStep {
  enum class Kind {
    kOverlay,       // of `source` at `target`, writes go to its upper folder; read-only if that fails
    kBind,          // `source` and all mounts below it as they are
    kReadOnlyBind,  // the same, not writable
    kSymlink,       // a link to `source`
    kFile,          // one file, not writable
    kHidden,        // an empty folder
    kMemory,        // an overlay whose writes go to a tmpfs of its own; `source` as it is if that fails
    kCache,         // an overlay that shows a cache folder as earlier launches left it; skipped if that fails
  };
  Kind kind;
  std::string source;   // a path outside the new root, or a link's text
  std::string target;   // a path below the new root
  std::string options;  // of the overlay
  // Folders to create before the overlay is mounted, `first` with the owner and permissions of `second`. The first
  // entry is its upper folder; for kMemory, the tmpfs that holds them.
  std::vector<std::pair<std::string, std::string>> folders = {};
};

struct MountPlan {
  std::string root;    // folder where the new root is assembled
  std::string layers;  // folder of the overlays' upper and work folders: <layers>/<n>/{upper,work}
  int overlays = 0;    // how many
  std::vector<MountStep> steps;
};

// A cache folder and what earlier launches wrote to it.
struct FilledCache {
  std::filesystem::path path;                 // of the user's folder, which need not exist
  std::vector<std::filesystem::path> layers;  // what was written, newest first; not empty
};

// What the plan is made for.
struct MountRequest {
  std::filesystem::path root, layers;
  std::filesystem::path hidden;    // holds the layers: not to be seen from inside
  std::filesystem::path writable;  // writes to it reach the real folder, at its own path
  // Folders that the program is likely to write to (its working folder, HOME …). An ordinary user's overlay cannot
  // change anything in another owner's folder, unless the folders leading to it are already in the upper layer.
  std::vector<std::filesystem::path> likely;
  bool user_namespace = false;  // mounts below a folder are then locked, and an overlay cannot span them
  std::vector<FilledCache> caches = {};
};
// Folders of sockets and kernel interfaces are left as they are, except shared memory (/dev/shm) and disks mounted
// below them.
MountPlan PlanMounts(const MountRequest& request, const std::vector<MountPoint>& mounts);

// Whether writes to `path` are thrown away: the innermost step that contains it is an overlay.
bool IsOverlaid(const MountPlan& plan, const std::filesystem::path& path);

// Where writes to `path` are stored until thrown away; empty when they are not thrown away, or are kept in memory.
std::filesystem::path WrittenTo(const MountPlan& plan, const std::filesystem::path& path);

// For overlayfs options, where ',' ':' and '\' are special.
std::string EscapeOverlayPath(std::string_view path);

}  // namespace loopscope
