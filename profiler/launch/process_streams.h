// Destination of a program's output: a file, or where it would go without us. Nothing is passed on by this process:
// the program, and what it leaves working, go on when we end.
#pragma once

#include <filesystem>
#include <string>

namespace loopscope {

class ProcessStreams {
 public:
  // `file`: where both streams go; empty: they are the program's own. `merge`: stdout goes where stderr goes.
  ProcessStreams(const std::filesystem::path& file, bool merge);
  ~ProcessStreams();
  ProcessStreams(const ProcessStreams&) = delete;
  ProcessStreams& operator=(const ProcessStreams&) = delete;

  void InChild() const noexcept;  // after fork: puts the streams in place
  std::string Tail() const;       // after the end: the last lines, where a file holds them

 private:
  std::filesystem::path file_;
  bool merge_ = false;
  int file_fd_ = -1;
};

}  // namespace loopscope
