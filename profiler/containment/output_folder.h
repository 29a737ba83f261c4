// Where a run's files go: a private folder on this machine while it runs, the output folder at the end.
#pragma once

#include <filesystem>

#include "profiler/core/result.h"

namespace loopscope {

// Creates the folder `asked`, or loopscope-out/<time> when that is empty, and checks that it is writable; returns an
// absolute path. Error (exit 2): it is not writable, or holds another run (unless `again`).
Result<std::filesystem::path> MakeOutputFolder(const std::filesystem::path& asked, bool again);

// A private folder in $TMPDIR or /tmp, mode 0700, deleted with this object unless kept.
class Scratch {
 public:
  static Result<Scratch> Make();  // error (exit 2): no folder can be made there
  Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::filesystem::path& path() const { return path_; }
  void Keep() { path_.clear(); }

 private:
  explicit Scratch(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace loopscope
