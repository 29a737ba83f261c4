// Code that runs in the child between fork and exec: system calls on strings prepared beforehand.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profiler/containment/containment.h"

namespace loopscope {
namespace {

bool WriteFile(const char* path, const char* text, std::size_t size) noexcept {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, size) == static_cast<ssize_t>(size);
  close(fd);
  return written;
}

// A remount may not drop restrictions that the mount already has, so they are read back and kept.
bool MakeReadOnly(const char* target) noexcept {
  struct statvfs facts;
  if (statvfs(target, &facts) != 0) return false;
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
  if (facts.f_flag & ST_NOSUID) flags |= MS_NOSUID;
  if (facts.f_flag & ST_NODEV) flags |= MS_NODEV;
  if (facts.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
  if (facts.f_flag & ST_NOATIME) flags |= MS_NOATIME;
  if (facts.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
  if (facts.f_flag & ST_RELATIME) flags |= MS_RELATIME;
  return mount(nullptr, target, nullptr, flags, nullptr) == 0;
}

bool BindReadOnly(const char* source, const char* target) noexcept {
  return mount(source, target, nullptr, MS_BIND | MS_REC, nullptr) == 0 && MakeReadOnly(target);
}

bool MakeFile(const char* path) noexcept {
  const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0 || access(path, F_OK) == 0;
}

// The root of an overlay shows its upper folder's owner and permissions.
void MakeLike(const char* folder, const char* source) noexcept {
  struct stat facts;
  mkdir(folder, 0755);
  if (stat(source, &facts) != 0) return;
  if (chown(folder, facts.st_uid, facts.st_gid) != 0) errno = 0;  // only root may
  chmod(folder, facts.st_mode & 07777);
}

bool MountOverlay(const MountStep& step, const char* visible, int downgraded_fd) noexcept {
  const char* const target = step.target.c_str();
  for (const auto& [folder, source] : step.folders) MakeLike(folder.c_str(), source.c_str());
  if (mount("overlay", target, "overlay", 0, step.options.c_str()) == 0) return true;
  if (!BindReadOnly(step.source.c_str(), target)) return false;
  if (downgraded_fd >= 0) dprintf(downgraded_fd, "%s\n", visible);
  return true;
}

bool MountInMemory(const MountStep& step, const char* visible, int downgraded_fd) noexcept {
  const char* const memory = step.folders.front().first.c_str();
  mkdir(memory, 0700);
  if (mount("tmpfs", memory, "tmpfs", MS_NOSUID | MS_NODEV, nullptr) == 0) {
    for (const auto& [folder, source] : step.folders) MakeLike(folder.c_str(), source.c_str());
    if (mount("overlay", step.target.c_str(), "overlay", 0, step.options.c_str()) == 0) return true;
  }
  if (downgraded_fd >= 0) dprintf(downgraded_fd, "=%s\n", visible);
  return true;
}

// If this fails, the launch merely fills its caches again.
void MountCache(const MountStep& step) noexcept {
  for (const auto& [folder, source] : step.folders) MakeLike(folder.c_str(), source.c_str());
  mount("overlay", step.target.c_str(), "overlay", 0, step.options.c_str());
}

// Top-level folders are created in the new root; deeper ones already exist in earlier mounts.
bool Apply(const MountStep& step, const char* visible, int downgraded_fd) noexcept {
  const char *const source = step.source.c_str(), *const target = step.target.c_str();
  const bool folder = step.kind != MountStep::Kind::kFile && step.kind != MountStep::Kind::kSymlink;
  if (folder) mkdir(target, 0755);
  switch (step.kind) {
    case MountStep::Kind::kOverlay:
      return MountOverlay(step, visible, downgraded_fd);
    case MountStep::Kind::kBind:
      return mount(source, target, nullptr, MS_BIND | MS_REC, nullptr) == 0;
    case MountStep::Kind::kReadOnlyBind:
      return BindReadOnly(source, target);
    case MountStep::Kind::kSymlink:
      return symlink(source, target) == 0;
    case MountStep::Kind::kFile:
      return MakeFile(target) && BindReadOnly(source, target);
    case MountStep::Kind::kMemory:
      return MountInMemory(step, visible, downgraded_fd);
    case MountStep::Kind::kCache:
      MountCache(step);
      return true;
    case MountStep::Kind::kHidden:
      return mount("tmpfs", target, "tmpfs", MS_NOSUID, "mode=0700,size=64k") == 0;
  }
  return false;
}

// The new root becomes "/". Where the current root cannot be pivoted (an initial ramdisk), chroot is used instead.
bool ExchangeRoot(const char* root) noexcept {
  if (chdir(root) != 0) return false;
  if (syscall(SYS_pivot_root, ".", ".") == 0) return umount2(".", MNT_DETACH) == 0;
  return chroot(".") == 0 && chdir("/") == 0;
}

// Creates the layers of overlays that are kept in memory.
bool MakeLayers(const char* layers, int overlays) noexcept {
  if (mount("tmpfs", layers, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0) return false;
  for (int i = 0; i < overlays; ++i) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%d", layers, i);
    if (mkdir(path, 0700) != 0) return false;
    for (const char* part : {"upper", "work"}) {
      std::snprintf(path, sizeof path, "%s/%d/%s", layers, i, part);
      if (mkdir(path, 0755) != 0) return false;
    }
  }
  return true;
}

}  // namespace

ContainedWorld::Entered ContainedWorld::EnterOverlay(int downgraded_fd) const noexcept {
  const auto failed = [](const char* step) { return Entered{step, errno}; };
  if (unshare(CLONE_NEWNS | (user_namespace_ ? CLONE_NEWUSER : 0)) != 0) return failed("a namespace of its own");
  if (user_namespace_) {
    WriteFile("/proc/self/setgroups", "deny", 4);
    if (!WriteFile("/proc/self/uid_map", uid_map_.data(), uid_map_.size())) return failed("user namespace");
    if (!WriteFile("/proc/self/gid_map", gid_map_.data(), gid_map_.size())) return failed("user namespace");
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("private mounts");
  if (mount("tmpfs", plan_.root.c_str(), "tmpfs", MS_NOSUID, "mode=0755") != 0) return failed("a new root");
  if (in_memory_ && !MakeLayers(plan_.layers.c_str(), plan_.overlays)) return failed("an overlay in memory");
  for (const MountStep& step : plan_.steps) {
    const char* const visible = step.target.c_str() + plan_.root.size();
    errno = 0;
    if (!Apply(step, visible, downgraded_fd)) return failed(visible);
  }
  if (!ExchangeRoot(plan_.root.c_str())) return failed("a new root");
  return {};
}

ContainedWorld::Entered ContainedWorld::Enter(int downgraded_fd) const noexcept {
  if (kind_ == ContainmentKind::kOverlay) {
    const Entered entered = EnterOverlay(downgraded_fd);
    if (entered.failed) return entered;
  }
  if (chdir(working_directory_.c_str()) != 0) return {"the working folder", errno};
  return {};
}

}  // namespace loopscope
