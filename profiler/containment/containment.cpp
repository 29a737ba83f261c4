#include "profiler/containment/containment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "profiler/containment/likely_folders.h"
#include "profiler/core/file_text.h"
#include "profiler/system/folder_copy.h"
#include "profiler/system/folders.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

struct Trial {
  std::string failure;                  // empty: it works
  std::vector<std::string> downgraded;  // trees that are read-only inside
  std::vector<std::string> left;        // trees where writes reach the real files
};

Trial ReadTrial(int fd) {
  Trial trial;
  std::string text(64 * 1024, '\0');
  ssize_t got = 0, size = 0;
  while (size < ssize_t(text.size()) && (got = read(fd, text.data() + size, text.size() - size)) > 0) size += got;
  std::istringstream lines(text.substr(0, size));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("!")) {
      trial.failure = line.substr(1);
    } else if (line.starts_with("=")) {
      trial.left.push_back(line.substr(1));
    } else {
      trial.downgraded.push_back(line);
    }
  }
  return trial;
}

// Enters the world in a child.
Trial Try(const ContainedWorld& world) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.failure = std::strerror(errno), .downgraded = {}, .left = {}};
  const pid_t child = fork();
  if (child == 0) {
    const auto entered = world.Enter(ends[1]);
    if (entered.failed) dprintf(ends[1], "!%s: %s\n", entered.failed, strerror(entered.error));
    _exit(entered.failed ? 1 : 0);
  }
  close(ends[1]);
  int status = 1;
  Trial trial;
  if (child > 0) {
    trial = ReadTrial(ends[0]);
    waitpid(child, &status, 0);
    if (trial.failure.empty() && status != 0) trial.failure = "the trial of it ended early";
  } else {
    trial.failure = std::strerror(errno);
  }
  close(ends[0]);
  return trial;
}

// Empty when this kind of overlay works here, else the reason why not.
std::string TryOverlay(Containment& candidate, const fs::path& scratch, const fs::path& working_directory) {
  const fs::path writable = scratch / "try-launch";
  std::error_code error;
  fs::create_directories(writable, error);
  auto world = ContainedWorld::Make(candidate, scratch / "containment" / "try", writable, working_directory);
  const Trial trial = world ? Try(*world) : Trial{.failure = world.error().what, .downgraded = {}, .left = {}};
  RemoveTree(writable);
  if (!trial.failure.empty()) return trial.failure;
  if (!world->Overlays(working_directory)) return "no overlay over " + working_directory.native() + " is made";
  for (const std::string& tree : trial.left) {
    candidate.notes.push_back(tree + " stays really writable: what a launch leaves there stays there");
  }
  for (const std::string& tree : trial.downgraded) {
    if (Holds(tree, working_directory.lexically_normal())) return "no overlay over " + tree + " is possible";
    candidate.notes.push_back(tree + " is read-only in the launches: the kernel allows no overlay over it");
  }
  return "";
}

Containment CopyOrNone(const fs::path& scratch, const fs::path& working_directory, std::string why_no_overlay) {
  Containment containment;
  containment.why_no_overlay = std::move(why_no_overlay);
  const FolderSize size = MeasureFolder(working_directory, scratch, kMaxCopyBytes, kMaxCopyFiles);
  if (size.within_limits) {
    containment.kind = ContainmentKind::kCopy;
    containment.notes = {"a file that the program names by an absolute path is the real one"};
    containment.exposed = {"every file that the program names by an absolute path, also one in " +
                           working_directory.native()};
    containment.links_out = size.links_out;
    containment.exposed.insert(containment.exposed.end(), size.links_out.begin(), size.links_out.end());
    return containment;
  }
  containment.exposed = {fmt::format("{} ({} to copy)", working_directory.native(), size.why),
                         "every other file that the program can write to"};
  return containment;
}

}  // namespace

std::string Containment::Describe() const {
  switch (kind) {
    case ContainmentKind::kOverlay:
      return fmt::format("each launch writes to a throw-away overlay of the file system{} (/run is not part of it)",
                         in_memory ? ", kept in memory" : "");
    case ContainmentKind::kCopy:
      return "each launch runs in a fresh copy of the working folder (no overlay: " + why_no_overlay + ")";
    case ContainmentKind::kUncontained:
      break;
  }
  return "launches write to the real file system (no overlay: " + why_no_overlay + ")";
}

Containment DetectContainment(const fs::path& scratch, const fs::path& working_directory) {
  std::string why;
  for (const bool user_namespace : {false, true}) {
    if (!user_namespace && geteuid() != 0) continue;
    for (const bool in_memory : {false, true}) {
      Containment candidate;
      candidate.kind = ContainmentKind::kOverlay;
      candidate.user_namespace = user_namespace;
      candidate.in_memory = in_memory;
      why = TryOverlay(candidate, scratch, working_directory);
      if (why.empty()) return candidate;
    }
  }
  return CopyOrNone(scratch, working_directory, why);
}

Result<ContainedWorld> ContainedWorld::Make(const Containment& containment, const fs::path& folder,
                                            const fs::path& writable, const fs::path& working_directory,
                                            std::vector<FilledCache> caches) {
  ContainedWorld world;
  world.kind_ = containment.kind;
  world.user_namespace_ = containment.user_namespace;
  world.in_memory_ = containment.in_memory;
  world.working_directory_ = working_directory;
  if (containment.kind == ContainmentKind::kUncontained) return world;
  std::error_code error;
  fs::create_directories(folder, error);
  world.folder_ = folder;
  if (error) return Error{"cannot make a folder: " + error.message(), folder, "set TMPDIR to a folder with space"};
  if (containment.kind == ContainmentKind::kCopy) {
    world.working_directory_ = folder / working_directory.filename();
    const Result<void> copied = CopyFolder(working_directory, world.working_directory_, folder.parent_path());
    return copied ? Result<ContainedWorld>(std::move(world)) : copied.error();
  }
  const MountRequest request{folder / "root",
                             folder / "layers",
                             folder.parent_path(),
                             writable,
                             LikelyFolders(working_directory, containment.user_namespace),
                             containment.user_namespace,
                             std::move(caches)};
  world.plan_ = PlanMounts(request, ParseMountInfo(FileText("/proc/self/mountinfo")));
  world.uid_map_ = fmt::format("{0} {0} 1", geteuid());
  world.gid_map_ = fmt::format("{0} {0} 1", getegid());
  fs::create_directories(request.root, error);
  fs::create_directories(request.layers, error);
  for (int i = 0; i < world.plan_.overlays && !world.in_memory_; ++i) {
    for (const char* part : {"upper", "work"}) fs::create_directories(request.layers / std::to_string(i) / part, error);
  }
  if (error) return Error{"cannot make a folder: " + error.message(), folder, "set TMPDIR to a folder with space"};
  return world;
}

namespace {

// overlayfs finds a renamed folder's files by a path from the layer's root, which differs where the layer is used.
bool HoldsRenamed(const fs::path& layer) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(layer, error), end; !error && at != end; at.increment(error)) {
    if (lgetxattr(at->path().c_str(), "trusted.overlay.redirect", nullptr, 0) > 0) return true;
  }
  return false;
}

}  // namespace

bool ContainedWorld::Take(const fs::path& path, const fs::path& to) const {
  const fs::path written = kind_ == ContainmentKind::kOverlay && !in_memory_ ? WrittenTo(plan_, path) : fs::path();
  std::error_code error;
  if (written.empty() || !fs::is_directory(written, error) || fs::is_empty(written, error) || error) return false;
  if (HoldsRenamed(written)) return false;
  fs::rename(written, to, error);
  return !error;
}

void RemoveTree(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  const auto options = fs::directory_options::none;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, error);
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end; at.increment(error)) {
    if (at->symlink_status(error).type() != fs::file_type::directory) continue;
    fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, error);
  }
  fs::remove_all(folder, error);
}

ContainedWorld::ContainedWorld(ContainedWorld&& other) noexcept
    : kind_(other.kind_),
      user_namespace_(other.user_namespace_),
      in_memory_(other.in_memory_),
      folder_(std::move(other.folder_)),
      working_directory_(std::move(other.working_directory_)),
      plan_(std::move(other.plan_)),
      uid_map_(std::move(other.uid_map_)),
      gid_map_(std::move(other.gid_map_)) {
  other.folder_.clear();
}

ContainedWorld::~ContainedWorld() {
  if (!folder_.empty()) RemoveTree(folder_);
}

}  // namespace loopscope
