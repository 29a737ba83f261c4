#include "profiler/system/process_tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// The parent of a process, from the text after the name in /proc/<pid>/stat: names may hold anything, ')' too.
pid_t ParentOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(") ");
  pid_t parent = -1;
  if (name_end != text.npos && text.size() > name_end + 4) parent = std::atoi(text.c_str() + name_end + 4);
  return parent;
}

std::string NameOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Every process that can be seen, and its parent.
std::vector<std::pair<pid_t, pid_t>> Processes() {
  std::vector<std::pair<pid_t, pid_t>> processes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    processes.emplace_back(std::atoi(name.c_str()), ParentOf(name));
  }
  return processes;
}

std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  for (const auto& [pid, parent] : Processes()) {
    if (parent == getpid()) children.push_back(pid);
  }
  return children;
}

// The children of all threads of `process`; false where the kernel does not list them.
bool AddChildren(pid_t process, std::vector<pid_t>& to) {
  std::error_code error;
  bool listed = false;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
    std::ifstream children(task.path() / "children");
    listed |= children.is_open();
    for (pid_t child = 0; children >> child;) to.push_back(child);
  }
  return listed;
}

std::vector<pid_t> DescendantsByParents(pid_t ancestor) {
  const auto processes = Processes();
  std::vector<pid_t> found{ancestor};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [pid, parent] : processes) {
      if (parent == found[i]) found.push_back(pid);
    }
  }
  found.erase(found.begin());
  return found;
}

bool ReapAll() {
  pid_t reaped;
  while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return reaped < 0;  // no children are left
}

}  // namespace

void BecomeSubreaper() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string ExecutableOf(pid_t process) {
  std::error_code error;
  return fs::read_symlink("/proc/" + std::to_string(process) + "/exe", error).native();
}

std::vector<std::string> EndChildren(double grace_s, const std::string& own) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(grace_s);
  std::vector<std::string> names;
  bool asked = false;
  while (!ReapAll()) {
    // Each death may give us more children, so repeat until none is left.
    const bool late = Clock::now() >= deadline;
    if (!asked || late) {
      for (const pid_t child : Children()) {  // none where /proc cannot be read
        if (!asked && (own.empty() || ExecutableOf(child) != own)) names.push_back(NameOf(child));
        kill(child, late ? SIGKILL : SIGTERM);
      }
      asked = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return names;
}

bool HasChildren() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::vector<pid_t> Descendants(pid_t ancestor) {
  std::vector<pid_t> found;
  if (!AddChildren(ancestor, found)) return DescendantsByParents(ancestor);
  for (std::size_t i = 0; i < found.size(); ++i) AddChildren(found[i], found);
  return found;
}

void KillTree(pid_t main) {
  if (getpgid(main) == main) kill(-main, SIGKILL);
  for (const pid_t child : Children()) kill(child, SIGKILL);
}

}  // namespace loopscope
