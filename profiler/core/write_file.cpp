#include "profiler/core/write_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace loopscope {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

namespace {

// Never replace a device or a FIFO by a file.
bool MayReplace(const std::filesystem::path& path) {
  struct stat one {};
  return lstat(path.c_str(), &one) != 0 || S_ISREG(one.st_mode) || S_ISLNK(one.st_mode);
}

// By its descriptor: another user may change what the path names meanwhile.
bool MakeLike(int fd, const struct stat& before) {
  constexpr mode_t kPermissions = 0777;
  if (before.st_uid != geteuid() && fchown(fd, before.st_uid, before.st_gid) != 0) return false;
  return fchmod(fd, before.st_mode & kPermissions) == 0;
}

// `before`: whose owner and permissions the new file keeps; null: only this user can read it.
int Replace(const std::filesystem::path& path, std::string_view bytes, const struct stat* before) {
  if (!MayReplace(path)) return EEXIST;
  std::string part = path.native() + kPartSuffix;
  const int fd = mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) return errno;
  bool written = WriteAll(fd, bytes) && (before == nullptr || MakeLike(fd, *before));
  int error = errno;
  if (close(fd) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && rename(part.c_str(), path.c_str()) == 0) return 0;
  if (written) error = errno;
  unlink(part.c_str());
  return error != 0 ? error : EIO;
}

}  // namespace

int WritePrivateFile(const std::filesystem::path& path, std::string_view bytes) {
  return Replace(path, bytes, nullptr);
}

std::FILE* OpenPrivateFile(const std::filesystem::path& path, bool append) {
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (append ? O_APPEND : O_TRUNC),
                      S_IRUSR | S_IWUSR);
  return fd >= 0 ? fdopen(fd, append ? "ab" : "wb") : nullptr;
}

int MakePrivateFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!folder.parent_path().empty()) std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return error.value();
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return 0;
  const int failed = errno;
  return failed == EEXIST && std::filesystem::is_directory(folder, error) ? 0 : failed;
}

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel's limit
constexpr off_t kTrialBytes = 64 * 1024;

struct Place {
  enum class Kind { kFile, kStream, kDescriptor } kind = Kind::kFile;
  fs::path path;        // kFile and kStream, without links
  int descriptor = -1;  // kDescriptor: one of this process's own
  bool is_fifo = false;
};

Error Refused(const fs::path& place, std::string what, std::string next = "name a place that can be written to") {
  return {std::move(what), place, std::move(next)};
}
Error Failed(const fs::path& place, int error) {
  return Refused(place, std::strerror(error));
}

// The number that a link of a process's descriptors has; -1 for any other path.
int DescriptorOf(const fs::path& path, bool& own) {
  std::error_code error;
  const std::string folder = fs::canonical(path.parent_path(), error).native(), name = path.filename();
  if (error || !folder.starts_with("/proc/") || !folder.ends_with("/fd")) return -1;
  int number = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  own = folder.starts_with("/proc/" + std::to_string(getpid()) + "/");
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? number : -1;
}

// A world-writable folder with the sticky bit: a name there may have been made by somebody else than the file's
// owner.
bool IsShared(const struct stat& folder) {
  return (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
}

// Like the kernel's fs.protected_symlinks: in a shared folder, follow only our own links and those of the folder's
// owner.
bool MayFollow(const fs::path& link) {
  struct stat one {
  }, folder{};
  if (lstat(link.c_str(), &one) != 0 || stat(link.parent_path().c_str(), &folder) != 0) return false;
  return !IsShared(folder) || one.st_uid == geteuid() || one.st_uid == folder.st_uid;
}

// A file that is itself a mount point can be written to, but not replaced.
bool IsMountPoint(const fs::path& path) {
  struct statx one {};
  return statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &one) == 0 &&
         (one.stx_attributes & one.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

Result<Place> Classified(const fs::path& asked, const fs::path& path) {
  struct stat one {};
  if (stat(path.c_str(), &one) != 0) {
    if (errno == ENOENT) return Place{Place::Kind::kFile, path};
    return Failed(asked, errno);
  }
  if (S_ISDIR(one.st_mode)) return Refused(asked, "is a folder", "name a file in it");
  if (S_ISBLK(one.st_mode)) return Refused(asked, "is a block device", "name a file");
  if (S_ISSOCK(one.st_mode)) return Refused(asked, "is a socket", "name a file");
  if (S_ISREG(one.st_mode) && !IsMountPoint(path)) return Place{Place::Kind::kFile, path};
  return Place{Place::Kind::kStream, path, -1, S_ISFIFO(one.st_mode) != 0};
}

Result<Place> Find(const fs::path& asked) {
  if (asked.empty()) return Refused(asked, "no file is named", "name one");
  std::error_code error;
  fs::path path = fs::absolute(asked, error);
  if (!path.has_filename()) return Refused(asked, "is a folder", "name a file in it");
  for (int links = 0; links < kMostLinks; ++links) {
    bool own = false;
    const int descriptor = DescriptorOf(path, own);
    if (descriptor >= 0 && own) return Place{Place::Kind::kDescriptor, {}, descriptor};
    // Another process's descriptor: its target may have no name, and belongs to that process.
    if (descriptor >= 0) return Place{Place::Kind::kStream, path};
    if (!fs::is_symlink(fs::symlink_status(path, error))) return Classified(asked, path);
    if (!MayFollow(path)) {
      return Refused(asked, "is a link of another user in a folder that everybody can write to");
    }
    const fs::path target = fs::read_symlink(path, error);
    if (error) return Failed(asked, error.value());
    path = path.parent_path() / target;  // an absolute target replaces it
  }
  return Failed(asked, ELOOP);
}

// Opens for appending, so that existing content stays. A FIFO is opened without waiting for a reader.
Result<int> Open(const fs::path& asked, const Place& place) {
  if (place.kind == Place::Kind::kDescriptor) {
    const int flags = fcntl(place.descriptor, F_GETFL);
    if (flags < 0) return Refused(asked, "is not open");
    if ((flags & O_ACCMODE) == O_RDONLY) return Refused(asked, "is open for reading only");
    const int fd = fcntl(place.descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0) return Failed(asked, errno);
    return fd;
  }
  const int fd = open(place.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 && errno == ENXIO && place.is_fifo)
    return Refused(asked, "is a FIFO that nobody reads", "start its reader first");
  if (fd < 0) return Failed(asked, errno);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

// A reader that went away gives an error, not SIGPIPE. Returns 0, or an errno.
int WriteTo(int fd, std::string_view bytes) {
  struct sigaction ignored = {}, before = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before);
  const int error = WriteAll(fd, bytes) ? 0 : errno;
  sigaction(SIGPIPE, &before, nullptr);
  return error;
}

// Tries what WriteFile will do, without writing the file itself.
Result<int> TryFile(const fs::path& asked, const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.parent_path();
  if (!fs::is_directory(folder, error)) return Refused(asked, "there is no folder " + folder.native(), "make it first");
  if (fs::exists(path, error) && access(path.c_str(), W_OK) != 0) return Failed(asked, errno);
  // The superuser could write to a read-only file, but should not.
  constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
  struct stat there {};
  if (stat(path.c_str(), &there) == 0 && (there.st_mode & kWritable) == 0) return Failed(asked, EACCES);
  std::string part = path.native() + kPartSuffix;
  const int fd = mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) return Refused(asked, "cannot write into " + folder.native() + ": " + std::strerror(errno));
  const int full = posix_fallocate(fd, 0, kTrialBytes);
  close(fd);
  unlink(part.c_str());
  if (full == ENOSPC || full == EDQUOT) return Failed(asked, full);
  return -1;
}

// Keeps the file's inode, and so its hard links. Returns 0, or an errno.
int WriteInPlace(const fs::path& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno;
  const int error = WriteTo(fd, bytes);
  return close(fd) != 0 && error == 0 ? errno : error;
}

// The user's own file keeps its mode and its other names, except in a shared folder; any other is new, and private.
// Returns 0, or an errno.
int WriteFile(const fs::path& path, std::string_view bytes) {
  struct stat before {
  }, folder{};
  // The superuser may write any file, and leaves it to its owner.
  const bool kept = lstat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode) &&
                    (before.st_uid == geteuid() || geteuid() == 0) && stat(path.parent_path().c_str(), &folder) == 0 &&
                    !IsShared(folder);
  if (kept && before.st_nlink > 1) return WriteInPlace(path, bytes);
  return Replace(path, bytes, kept ? &before : nullptr);
}

}  // namespace

Result<int> CheckOutputFile(const fs::path& place) {
  const auto found = Find(place);
  if (!found) return found.error();
  if (found->kind == Place::Kind::kFile) return TryFile(place, found->path);
  const auto fd = Open(place, *found);
  if (!fd || found->is_fifo) return fd;
  close(*fd);
  return -1;
}

Result<void> WriteOutputFile(const fs::path& place, std::string_view bytes) {
  const auto found = Find(place);
  if (!found) return found.error();
  if (found->kind == Place::Kind::kFile) {
    if (const int error = WriteFile(found->path, bytes); error != 0) return Failed(place, error);
    return {};
  }
  const auto fd = Open(place, *found);
  if (!fd) return fd.error();
  int error = WriteTo(*fd, bytes);
  if (close(*fd) != 0 && error == 0) error = errno;
  if (error != 0) return Failed(place, error);
  return {};
}

bool SameOutputFile(const fs::path& one, const fs::path& other) {
  const auto left = Find(one), right = Find(other);
  if (!left || !right || left->kind != Place::Kind::kFile || right->kind != Place::Kind::kFile) return false;
  std::error_code error;
  return fs::weakly_canonical(left->path, error) == fs::weakly_canonical(right->path, error) ||
         fs::equivalent(left->path, right->path, error);
}

}  // namespace loopscope
