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
  bool user_namespace = false;         // overlay: made as an ordinary user
  bool in_memory = false;              // overlay: writes are kept in memory (a tmpfs), since the disk cannot hold them
  std::vector<std::string> notes;      // differences from the real file system, one sentence each
  std::vector<std::string> exposed;    // what a launch can still change; empty for an overlay
  std::vector<std::string> links_out;  // copy: links in it to real files that launches could write to
  std::string why_no_overlay;          // for kCopy and kUncontained

  std::string Describe() const;  // one line: "writes go to a throw-away overlay of the file system"
};

inline constexpr std::uintmax_t kMaxCopyBytes = 2ull << 30;
inline constexpr int kMaxCopyFiles = 200'000;

// Tries each kind in a child process, best first. `scratch` is a private folder of Loopscope's; the program starts in
// `working_directory`.
Containment DetectContainment(const std::filesystem::path& scratch, const std::filesystem::path& working_directory);

// One launch's own throw-away world; its folder is deleted with it.
class ContainedWorld {
 public:
  // `folder` is created for this launch; writes to `writable` (exists) reach the real folder; an overlay shows `caches`
  // as filled. Error (exit 2): the world cannot be made.
  static Result<ContainedWorld> Make(const Containment& containment, const std::filesystem::path& folder,
                                     const std::filesystem::path& writable,
                                     const std::filesystem::path& working_directory,
                                     std::vector<FilledCache> caches = {});
  ContainedWorld(ContainedWorld&& other) noexcept;
  ContainedWorld& operator=(ContainedWorld&&) = delete;
  ~ContainedWorld();

  // Where the program starts; in a copy, not the folder that was asked for.
  const std::filesystem::path& working_directory() const { return working_directory_; }

  // Whether an overlay throws away what a launch writes to `path`.
  bool Overlays(const std::filesystem::path& path) const { return IsOverlaid(plan_, path); }

  // After the launch: moves what it wrote below `path` to `to` (must not exist), as a layer of a FilledCache. False
  // when there is nothing to move or moving fails.
  bool Take(const std::filesystem::path& path, const std::filesystem::path& to) const;

  struct Entered {
    const char* failed = nullptr;  // the step that failed; null: inside, in the working directory
    int error = 0;                 // its errno
  };
  // In the child between fork and exec: system calls only. Targets of overlays that became read-only instead are
  // written to `downgraded_fd` (unless -1), one per line; a "=" in front marks one that was left unchanged.
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

// Deletes a folder even when a program or overlayfs left parts of it without permissions. What cannot be deleted stays.
void RemoveTree(const std::filesystem::path& folder);

}  // namespace loopscope
