#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "profiler/core/text.h"
#include "profiler/launch/process.h"

namespace loopscope {
namespace {

constexpr std::size_t kTailBytes = 8 * 1024;
constexpr int kTailLines = 12;

bool IsFile(int fd) {
  struct stat one;
  return fstat(fd, &one) == 0 && S_ISREG(one.st_mode);
}

std::string EndOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const std::streamoff size = std::max<std::streamoff>(0, file.tellg());
  file.seekg(std::max<std::streamoff>(0, size - std::streamoff(kTailBytes)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

ProcessStreams::ProcessStreams(const std::filesystem::path& file, bool merge) : file_(file), merge_(merge) {
  if (!file.empty()) file_fd_ = open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

ProcessStreams::~ProcessStreams() {
  if (file_fd_ >= 0) close(file_fd_);
}

void ProcessStreams::InChild() const noexcept {
  if (file_fd_ >= 0) {
    dup2(file_fd_, STDOUT_FILENO);
    dup2(file_fd_, STDERR_FILENO);
  } else if (merge_) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
}

std::string ProcessStreams::Tail() const {
  const bool in_file = file_.empty() && IsFile(STDERR_FILENO);
  const std::filesystem::path file = in_file ? "/proc/self/fd/2" : file_;
  return file.empty() ? "" : LastLines(EndOfFile(file), kTailLines);
}

}  // namespace loopscope
