// The processes that a program leaves behind. They become ours, since we are their subreaper.
#pragma once

#include <sys/types.h>

namespace loopscope {

// Orphans below this process are handed to it from now on.
void BecomeSubreaper();

// Ends and reaps all children of this process, and theirs: first asks (SIGTERM), after `grace_s` kills.
void EndChildren(double grace_s);

// Kills a program's process group and all children of ours at once, without reaping `main`.
void KillTree(pid_t main);

}  // namespace loopscope
