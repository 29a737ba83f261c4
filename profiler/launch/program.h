// The program that a command starts: its kind, whether the probes can follow it, and whether it can be started again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// The kind of program that a command starts, judged by its file: explains why a probe may see nothing.
enum class ProgramKind { kMissing, kScript, kPython, kStatic, kDynamic, kForeign };

struct Program {
  ProgramKind kind = ProgramKind::kMissing;
  std::filesystem::path path;  // as found in PATH; empty when missing
  std::string interpreter;     // of a script ("/bin/bash") or of a dynamic executable (its loader)
};

Program InspectProgram(const std::string& word);

// The libraries that the loader would load for a dynamic executable, by path; empty when unknown. The program itself is
// not run.
std::vector<std::string> LinkedLibraries(const Program& program);

// One sentence on why no LibTorch was seen in it.
std::string WhyNoLibTorch(const Program& program);

// Commands that the probes cannot follow, judged by their words: they start the program on another machine, in a
// container, with another environment, or with an interpreter that ignores the environment.

// One sentence: why, and what to do instead. Empty: nothing in the command rules it out.
std::optional<std::string> WhyUnreachable(const std::vector<std::string>& command);

// Whether a command can be rerun: input that only the first start can read would make reruns different
// programs.

// Error (exit 2): the command names a descriptor (/dev/fd/63, as a shell's `<(…)` does; `2>&5` in the text of `sh -c`)
// or standard input (/dev/stdin, `python -`), which reruns do not have.
Result<void> CheckRerunnable(const std::vector<std::string>& command);

}  // namespace loopscope
