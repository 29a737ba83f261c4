// How a program ended, in words.
#pragma once

#include <string>

namespace loopscope {

// "ended with status 1", "was killed by signal 9 (Killed)", "was interrupted"; empty where it ended well, or where that
// is unknown. `exit_status` as a shell reports it: 128 + signal; negative where it is unknown.
std::string HowItEnded(int exit_status);

}  // namespace loopscope
