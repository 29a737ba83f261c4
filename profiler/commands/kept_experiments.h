// --reuse: experiments kept in the user's cache, so that the same question about the same program on the same machine
// reuses the measurements, and an interrupted one goes on, whatever folder it wrote to.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/options.h"
#include "profiler/core/result.h"

namespace loopscope {

class KeptExperiment {
 public:
  // Identifies an experiment: command, treatments, settings, the recorded part of the environment, machine and the
  // programs' files. Error: no cache, or versions of files cannot be distinguished.
  static Result<KeptExperiment> Of(const Options& options, const std::vector<std::vector<std::string>>& commands,
                                   const std::filesystem::path& executable);

  // Copies what is kept into `output`, which holds no experiment yet: diagnosis and finished launches. Returns when it
  // was kept, "2026-11-22 07:05"; nullopt where nothing equal is kept.
  std::optional<std::string> Take(const std::filesystem::path& output) const;
  // Keeps what `output` holds instead of what was kept; the oldest experiments make room. Error: it cannot be written.
  Result<void> Keep(const std::filesystem::path& output) const;

 private:
  KeptExperiment(std::filesystem::path folder, std::string question);
  std::filesystem::path folder_;
  std::string question_;  // in full: hashes may collide
};

// The files that a program is made of: when one of them changes, its measurements are no longer valid.

// One line for each: its path and what distinguishes its versions. The program itself, the libraries that it is linked
// to, every file named on the command line, and for Python programs every *.py below the working folder and the
// script's, installed packages left out, and torch's version. Data files are ignored. Error: there are too many of them
// to check whether one changed.
Result<std::string> ProgramFiles(const std::vector<std::string>& command, const std::filesystem::path& folder);

}  // namespace loopscope
