// What a program prints: to a file, or passed through with the last of it kept.
#pragma once

#include <poll.h>

#include <filesystem>
#include <string>
#include <vector>

namespace loopscope {

class ProcessStreams {
 public:
  // `file`: where both streams go; empty: passed through. A terminal is handed on as it is, so that programs go
  // on showing progress, and so is a file; another stream goes through a pipe. `merge`: stdout goes where stderr goes.
  ProcessStreams(const std::filesystem::path& file, bool merge);
  ~ProcessStreams();
  ProcessStreams(const ProcessStreams&) = delete;
  ProcessStreams& operator=(const ProcessStreams&) = delete;

  void InChild() noexcept;  // after fork: puts the streams in place
  void InParent();          // after fork: closes the child's ends
  std::vector<pollfd> Polled() const;
  void Pass();         // passes on what is there, without waiting
  std::string Tail();  // after the end

 private:
  struct Pipe {
    int read_end = -1, write_end = -1, to = -1;
  };
  void Through(int stream, int to);
  bool PassOne(Pipe& pipe);

  std::filesystem::path file_;
  int file_fd_ = -1;
  int sources_[2] = {-1, -1};  // what becomes the child's stdout and stderr; -1: inherited
  std::vector<Pipe> pipes_;
  std::string tail_;
};

}  // namespace loopscope
