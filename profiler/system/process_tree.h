// The processes that a program leaves behind. They become ours, since we are their subreaper.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace loopscope {

// Orphans below this process are handed to it from now on.
void BecomeSubreaper();

// Ends and reaps all children of this process, and theirs: first asks (SIGTERM), after `grace_s` kills. Returns the
// names of those asked, except copies of the executable `own`.
std::vector<std::string> EndChildren(double grace_s, const std::string& own = "");

std::string ExecutableOf(pid_t process);  // its path; empty if unknown

// Whether this process has children that have not ended; reaps none.
bool HasChildren();

// All processes below `ancestor`, without it, parents before their children.
std::vector<pid_t> Descendants(pid_t ancestor);

// Kills a program's process group and all children of ours at once, without reaping `main`.
void KillTree(pid_t main);

}  // namespace loopscope
