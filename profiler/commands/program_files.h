// The files that a program is made of: when one of them changed, what was measured of it holds no more.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// One line for each: its path and what tells its versions apart. The program itself, the libraries that it is linked
// to, every file named on the command line, and of Python programs every *.py below the working folder and the
// script's, installed packages left out, and torch's version. Data are not looked at. Error: there are too many of them
// to look at, so nobody can tell whether one changed.
Result<std::string> ProgramFiles(const std::vector<std::string>& command, const std::filesystem::path& folder);

}  // namespace loopscope
