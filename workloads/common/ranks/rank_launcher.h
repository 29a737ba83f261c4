// --ranks N: starts the program N times as ranks of one training run, and ensures that none outlives the others.
#pragma once

#include <string_view>

namespace loopscope::train {

// Starts this program again with the same arguments, `count` times, and waits for all. When one fails the others are
// ended within seconds, and stderr says which one failed and where each was. Returns the first failed rank's status,
// 128 and the signal's number for one that a signal ended, 0 when none failed.
int LaunchRanks(std::string_view program, int count, char** argv);

// In a rank: it ends when the process that started it does.
void EndWithLauncher();

}  // namespace loopscope::train
