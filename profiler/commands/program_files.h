// The files that a program is made of: when one of them changes, its measurements are no longer valid.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// One line for each: its path and what distinguishes its versions. The program itself, the libraries that it is linked
// to, every file named on the command line, and for Python programs every *.py below the working folder and the
// script's, installed packages left out, and torch's version. Data files are ignored. Error: there are too many of them
// to check whether one changed.
Result<std::string> ProgramFiles(const std::vector<std::string>& command, const std::filesystem::path& folder);

}  // namespace loopscope
