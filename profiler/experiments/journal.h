// Finished launches of an experiment, one line of JSON each, so that an interrupted one goes on where it stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "profiler/core/launch.h"
#include "profiler/core/result.h"

namespace loopscope {

class Journal {
 public:
  // Begins a new journal, or with `resume` reads the finished launches of the one that is there; a line that was cut
  // short is dropped. Errors (exit 2): nothing to resume, another plan's journal, a file that cannot be written.
  static Result<std::unique_ptr<Journal>> Open(const std::filesystem::path& path, std::uint64_t plan, bool resume);
  ~Journal();

  // The result of an earlier launch that went well.
  std::optional<LaunchResult> Finished(const LaunchSpec& spec) const;
  bool Append(const LaunchSpec& spec, const LaunchResult& result);  // flushed; false when it could not be written

 private:
  struct File;
  explicit Journal(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
  std::map<std::uint64_t, LaunchResult> finished_;
};

}  // namespace loopscope
