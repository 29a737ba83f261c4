#include "profiler/core/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace loopscope {
namespace {

// Never replace a device or a FIFO by a file.
bool MayReplace(const std::filesystem::path& path) {
  struct stat one {};
  return lstat(path.c_str(), &one) != 0 || S_ISREG(one.st_mode) || S_ISLNK(one.st_mode);
}

}  // namespace

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int WritePrivateFile(const std::filesystem::path& path, std::string_view bytes) {
  if (!MayReplace(path)) return EEXIST;
  std::string part = path.native() + kPartSuffix;
  const int fd = mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) return errno;
  bool written = WriteAll(fd, bytes);
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

}  // namespace loopscope
