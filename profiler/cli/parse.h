// The command line of `loopscope COMMAND [options] [INPUT…] [-- CMD…]`.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/command.h"
#include "profiler/cli/options.h"
#include "profiler/core/result.h"

namespace loopscope {

// `arguments` without the program's name. Errors (exit 2) say what, where and what to do.
Result<Options> ParseOptions(Commands commands, const std::vector<std::string>& arguments);

}  // namespace loopscope
