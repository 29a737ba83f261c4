// The kind of program that a command starts, judged by its file: explains why a probe may see nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace loopscope {

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

}  // namespace loopscope
