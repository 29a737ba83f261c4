#include "profiler/launch/process_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "profiler/core/text.h"

namespace loopscope {
namespace {

constexpr std::size_t kTailBytes = 8 * 1024;
constexpr int kTailLines = 12;

bool SameFile(int a, int b) {
  struct stat left, right;
  return fstat(a, &left) == 0 && fstat(b, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// Handed on as it is: to go on when this process is killed, the program must not write to a pipe of ours.
bool IsFile(int fd) {
  struct stat one;
  return fstat(fd, &one) == 0 && S_ISREG(one.st_mode);
}

// A reader that went away (`| head`) must not stop the program: what cannot be passed on is dropped.
void WriteAll(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t wrote = write(fd, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;
    data += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
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

ProcessStreams::ProcessStreams(const std::filesystem::path& file, bool merge) : file_(file) {
  if (!file.empty()) {
    file_fd_ = open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    sources_[0] = sources_[1] = file_fd_;
    return;
  }
  Through(STDERR_FILENO, STDERR_FILENO);
  if (merge) {
    sources_[0] = sources_[1] >= 0 ? sources_[1] : STDERR_FILENO;
  } else if (SameFile(STDOUT_FILENO, STDERR_FILENO) && sources_[1] >= 0) {
    sources_[0] = sources_[1];  // one pipe keeps the order of lines
  } else {
    Through(STDOUT_FILENO, STDOUT_FILENO);
  }
}

void ProcessStreams::Through(int stream, int to) {
  Pipe pipe;
  int ends[2];
  if (isatty(to) || IsFile(to) || pipe2(ends, O_CLOEXEC) != 0) return;
  pipe = {ends[0], ends[1], to};
  fcntl(pipe.read_end, F_SETFL, O_NONBLOCK);
  sources_[stream - STDOUT_FILENO] = pipe.write_end;
  pipes_.push_back(pipe);
}

ProcessStreams::~ProcessStreams() {
  InParent();
  for (const Pipe& pipe : pipes_) {
    if (pipe.read_end >= 0) close(pipe.read_end);
  }
}

void ProcessStreams::InChild() noexcept {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (const int source = sources_[stream - STDOUT_FILENO]; source >= 0) dup2(source, stream);
  }
}

void ProcessStreams::InParent() {
  for (Pipe& pipe : pipes_) {
    if (pipe.write_end >= 0) close(pipe.write_end);
    pipe.write_end = -1;
  }
  if (file_fd_ >= 0) close(file_fd_);
  file_fd_ = -1;
}

std::vector<pollfd> ProcessStreams::Polled() const {
  std::vector<pollfd> polled;
  for (const Pipe& pipe : pipes_) {
    if (pipe.read_end >= 0) polled.push_back({pipe.read_end, POLLIN, 0});
  }
  return polled;
}

bool ProcessStreams::PassOne(Pipe& pipe) {
  char block[16 * 1024];
  const ssize_t got = read(pipe.read_end, block, sizeof block);
  if (got > 0) {
    WriteAll(pipe.to, block, static_cast<std::size_t>(got));
    tail_.append(block, static_cast<std::size_t>(got));
    if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    return true;
  }
  if (got == 0 || errno != EAGAIN) {
    close(pipe.read_end);
    pipe.read_end = -1;
  }
  return false;
}

void ProcessStreams::Pass() {
  for (Pipe& pipe : pipes_) {
    while (pipe.read_end >= 0 && PassOne(pipe)) {
    }
  }
}

std::string ProcessStreams::Tail() {
  Pass();
  const bool in_file = file_.empty() && tail_.empty() && IsFile(STDERR_FILENO);
  const std::filesystem::path file = in_file ? "/proc/self/fd/2" : file_;
  return LastLines(file.empty() ? tail_ : EndOfFile(file), kTailLines);
}

}  // namespace loopscope
