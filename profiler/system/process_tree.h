// The processes that a program leaves behind. They become ours, since we are their subreaper.
#pragma once

#include <sys/types.h>

#include <vector>

namespace loopscope {

// Orphans below this process are handed to it from now on.
void BecomeSubreaper();

// Ends and reaps all children of this process, and theirs: first asks (SIGTERM), after `grace_s` kills. Not, where
// `but_daemons`, those in a session of their own.
void EndChildren(double grace_s, bool but_daemons = false);

// All processes below `ancestor`, without it, parents before their children.
std::vector<pid_t> Descendants(pid_t ancestor);

// Kills a program's process group and all children of ours at once, without reaping `main`.
void KillTree(pid_t main);

}  // namespace loopscope
