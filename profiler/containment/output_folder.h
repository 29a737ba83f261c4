// Folders for a run's files: the output folder, and a private one on this machine for temporary files.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// Creates the folder `asked`, or loopscope-out/<time> when that is empty, and checks that it is writable; returns an
// absolute path. Error (exit 2): it is not writable, or holds another run or its recording (unless `again`).
Result<std::filesystem::path> MakeOutputFolder(const std::filesystem::path& asked, bool again);

// A private folder in $TMPDIR or /tmp, mode 0700, deleted with this object unless kept.
class Scratch {
 public:
  static Result<Scratch> Make();  // error (exit 2): no folder can be made there
  Scratch(Scratch&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)), left_(std::move(other.left_)) {
    other.path_.clear();
  }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::filesystem::path& path() const { return path_; }
  void Keep() { path_.clear(); }

  // Folders in which runs that were killed left recordings.
  const std::vector<std::filesystem::path>& left() const { return left_; }

 private:
  Scratch(std::filesystem::path path, int lock, std::vector<std::filesystem::path> left)
      : path_(std::move(path)), lock_(lock), left_(std::move(left)) {}
  std::filesystem::path path_;
  int lock_ = -1;
  std::vector<std::filesystem::path> left_;
};

}  // namespace loopscope
