// The commands, in the order in which the help lists them.
#pragma once

#include "profiler/cli/command.h"

namespace loopscope {

Commands AllCommands();

}  // namespace loopscope
