// Keeps what a launch writes away from the user's files: a throw-away overlay of the file system where the kernel
// allows one, else a fresh copy of the working folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/containment/mount_plan.h"
#include "profiler/core/result.h"

namespace loopscope {

enum class ContainmentKind { kOverlay, kCopy, kUncontained };

struct Containment {
  ContainmentKind kind = ContainmentKind::kUncontained;
  bool user_namespace = false;       // overlay: made as an ordinary user
  bool in_memory = false;            // overlay: what is written lies in memory (a tmpfs), since the disk cannot hold it
  std::vector<std::string> notes;    // how it differs from the real file system, one sentence each
  std::vector<std::string> exposed;  // what a launch can still change; empty for an overlay
  std::vector<std::string> links_out;  // copy: links in it to real files that launches could write to
  std::string why_no_overlay;          // for kCopy and kUncontained

  std::string Describe() const;  // one line: "writes go to a throw-away overlay of the file system"
};

inline constexpr std::uintmax_t kMaxCopyBytes = 2ull << 30;
inline constexpr int kMaxCopyFiles = 200'000;

// Tries the kinds for real in a child, best first. `scratch` is a private folder of ours; `working_directory` is where
// the program starts.
Containment DetectContainment(const std::filesystem::path& scratch, const std::filesystem::path& working_directory);

// One launch's own throw-away world; its folder is deleted with it.
class ContainedWorld {
 public:
  // `folder` is made anew for this launch; `writable` (exists) stays really writable inside; in an overlay, `caches`
  // are seen as filled. Error (exit 2): it cannot be made.
  static Result<ContainedWorld> Make(const Containment& containment, const std::filesystem::path& folder,
                                     const std::filesystem::path& writable,
                                     const std::filesystem::path& working_directory,
                                     std::vector<FilledCache> caches = {});
  ContainedWorld(ContainedWorld&& other) noexcept;
  ContainedWorld& operator=(ContainedWorld&&) = delete;
  ~ContainedWorld();

  // Where the program starts: another folder than asked for in a copy.
  const std::filesystem::path& working_directory() const { return working_directory_; }

  // Whether what a launch writes to `path` is thrown away, in an overlay.
  bool Overlays(const std::filesystem::path& path) const { return IsOverlaid(plan_, path); }

  // Moves what the launch, now ended, has written below `path` to `to` (not there yet), as a layer of a FilledCache.
  // False where there is nothing, or it cannot be had.
  bool Take(const std::filesystem::path& path, const std::filesystem::path& to) const;

  struct Entered {
    const char* failed = nullptr;  // the step that failed; null: inside, in the working directory
    int error = 0;                 // its errno
  };
  // In the child after fork, before exec: system calls only. Targets of overlays that had to be read-only instead are
  // written to `downgraded_fd`, one per line, unless it is -1; with "=" before it one that stays as it is.
  Entered Enter(int downgraded_fd = -1) const noexcept;

 private:
  ContainedWorld() = default;
  Entered EnterOverlay(int downgraded_fd) const noexcept;

  ContainmentKind kind_ = ContainmentKind::kUncontained;
  bool user_namespace_ = false, in_memory_ = false;
  std::filesystem::path folder_, working_directory_;
  MountPlan plan_;
  std::string uid_map_, gid_map_;
};

// Deletes a folder also when a program or overlayfs left parts without permissions. What cannot be deleted stays.
void RemoveTree(const std::filesystem::path& folder);

}  // namespace loopscope
