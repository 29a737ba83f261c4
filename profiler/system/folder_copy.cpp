#include "profiler/system/folder_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kNearlyFullBytes = 1 << 20;

Error CannotCopy(const fs::path& path, const std::error_code& error) {
  return {"cannot be copied: " + error.message(), path, "make it readable, free space, or pass --allow-writes"};
}

// Programs choose checkpoints by age, so it is kept.
void KeepTimes(const fs::path& from, const fs::path& to) {
  struct stat facts;
  if (lstat(from.c_str(), &facts) != 0) return;
  const timespec times[2] = {facts.st_atim, facts.st_mtim};
  utimensat(AT_FDCWD, to.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

bool Same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

// Where a link leads if that is outside `root`; empty when it is inside or does not exist.
fs::path LeadsOut(const fs::path& link, const fs::path& root) {
  std::error_code error;
  const fs::path target = fs::canonical(link, error);
  if (error) return {};
  const fs::path inside = target.lexically_relative(root);
  return inside.empty() || *inside.begin() == ".." ? target : fs::path();
}

// A copy of one tree. `root_` is canonical.
class Copy {
 public:
  Copy(fs::path root, const fs::path& left_out) : root_(std::move(root)), left_out_(left_out) {}

  Result<void> Folder(const fs::path& from, const fs::path& to) const {
    std::error_code error;
    fs::create_directory(to, error);
    if (error) return CannotCopy(to, error);
    fs::directory_iterator entries(from, error);
    if (error) return CannotCopy(from, error);
    for (const fs::directory_entry& entry : entries) {
      if (const auto copied = Entry(entry, to / entry.path().filename()); !copied) return copied;
    }
    fs::permissions(to, fs::status(from, error).permissions(), error);
    KeepTimes(from, to);
    return {};
  }

 private:
  Result<void> Entry(const fs::directory_entry& entry, const fs::path& to) const {
    std::error_code error;
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::symlink) {
      Link(entry.path(), to, error);
    } else if (type == fs::file_type::regular) {
      fs::copy_file(entry.path(), to, error);
    } else if (type == fs::file_type::directory) {
      return Same(entry.path(), left_out_) ? Result<void>() : Folder(entry.path(), to);
    } else {
      return {};
    }
    if (error) return CannotCopy(entry.path(), error);
    KeepTimes(entry.path(), to);
    return {};
  }

  void Link(const fs::path& from, const fs::path& to, std::error_code& error) const {
    const fs::path outside = fs::read_symlink(from, error).is_relative() ? LeadsOut(from, root_) : fs::path();
    outside.empty() ? fs::copy_symlink(from, to, error) : fs::create_symlink(outside, to, error);
  }

  fs::path root_;
  const fs::path& left_out_;
};

}  // namespace

FolderSize MeasureFolder(const fs::path& folder, const fs::path& left_out, std::uintmax_t max_bytes, int max_files) {
  FolderSize size;
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && Same(at->path(), left_out)) at.disable_recursion_pending();
    ++size.files;
    if (at->is_symlink(error)) {
      const fs::path outside = LeadsOut(at->path(), root);
      if (!outside.empty() && access(outside.c_str(), W_OK) == 0) {
        size.links_out.push_back(at->path().lexically_relative(folder).native() + " -> " + outside.native());
      }
    }
    if (at->symlink_status(error).type() == fs::file_type::regular) size.bytes += at->file_size(error);
    if (size.bytes > max_bytes)
      size.why = fmt::format("more than {:.1f} GiB", static_cast<double>(max_bytes) / (1u << 30));
    if (size.files > max_files) size.why = fmt::format("more than {} files", max_files);
    size.within_limits = size.why.empty();
    if (!size.within_limits) break;
  }
  return size;
}

Result<void> CopyFolder(const fs::path& from, const fs::path& to, const fs::path& left_out) {
  std::error_code error;
  return Copy(fs::canonical(from, error), left_out).Folder(from, to);
}

Result<void> MovePath(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  fs::rename(from, to, error);
  if (!error) return {};
  error.clear();
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    std::error_code ignored;
    const bool is_full = fs::space(to.parent_path(), ignored).available < kNearlyFullBytes;
    fs::remove_all(to, ignored);  // half a capture is not what was recorded
    return Error{"cannot be moved there: " + (is_full ? std::strerror(ENOSPC) : error.message()), to,
                 "what was recorded stays in " + from.native()};
  }
  fs::remove_all(from, error);
  return {};
}

}  // namespace loopscope
