#include "probes/preload/process/processors.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/preload/process/proc_file.h"

namespace loopscope {
namespace {

constexpr int kMostDepth = 4;  // of nested children: a shell, a launcher, a worker server

struct Reading {
  std::uint64_t time_ns = 0, ran_ns = 0, delay_ns = 0, own_ns = 0, all_ns = 0;
  bool whole = false;
};

Reading opened;
int training_tid = 0;

std::uint64_t TickNs() noexcept {
  static const long ticks = sysconf(_SC_CLK_TCK);
  return ticks > 0 ? 1'000'000'000ull / static_cast<std::uint64_t>(ticks) : 10'000'000ull;
}

// Fields 1 and 2 of schedstat: time on a processor, and ready without one (Documentation/scheduler/sched-stats.rst).
bool ReadThread(int tid, Reading& reading) noexcept {
  char path[64], text[128];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
  return std::sscanf(ReadStart(path, text), "%" SCNu64 " %" SCNu64, &reading.ran_ns, &reading.delay_ns) == 2;
}

// utime + stime of all threads of a process, those that ended included; the name before them may hold anything.
std::uint64_t TicksOf(const char* pid) noexcept {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%s/stat", pid);
  const char* after_name = std::strrchr(ReadStart(path, text), ')');
  std::uint64_t user = 0, system = 0;
  if (after_name == nullptr) return 0;
  std::sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user, &system);
  return user + system;
}

std::uint64_t TicksOfTree(const char* pid, int depth) noexcept {
  std::uint64_t ticks = TicksOf(pid);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR* tasks = depth < kMostDepth ? opendir(path) : nullptr;
  if (tasks == nullptr) return ticks;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    char children_path[400], children[2048];
    std::snprintf(children_path, sizeof children_path, "/proc/%s/task/%s/children", pid, task->d_name);
    ReadStart(children_path, children);
    char* rest = nullptr;
    for (char* child = strtok_r(children, " ", &rest); child != nullptr; child = strtok_r(nullptr, " ", &rest)) {
      ticks += TicksOfTree(child, depth + 1);
    }
  }
  closedir(tasks);
  return ticks;
}

// From the lines "cpuN user nice system idle iowait irq softirq steal": all but idle and iowait. Time that a virtual
// machine's host gave to others (steal) counts as others' work, too.
std::uint64_t BusyTicks() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  static char text[64 * 1024];  // used by one thread, at the window's ends
  std::uint64_t busy = 0;
  const char* line = std::strchr(ReadStart("/proc/stat", text), '\n');
  for (; line != nullptr && std::strncmp(line + 1, "cpu", 3) == 0; line = std::strchr(line + 1, '\n')) {
    unsigned cpu = 0;
    std::uint64_t user = 0, nice = 0, system = 0, irq = 0, soft = 0, stolen = 0;
    const int read =
        std::sscanf(line + 1, "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64,
                    &cpu, &user, &nice, &system, &irq, &soft, &stolen);
    if (read >= 6 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) {
      busy += user + nice + system + irq + soft + stolen;
    }
  }
  return busy;
}

Reading Read() noexcept {
  Reading reading;
  reading.time_ns = capture::NowNs();
  reading.whole = ReadThread(training_tid, reading);
  reading.own_ns = TicksOfTree("self", 0) * TickNs();
  reading.all_ns = BusyTicks() * TickNs();
  return reading;
}

// Counts the program's processors, with those that share a core's units counted once.
unsigned PhysicalCores() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  unsigned cores = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    char path[96], text[256];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    unsigned first = cpu;  // of the siblings: "0,64" or "0-1"
    if (std::sscanf(ReadStart(path, text), "%u", &first) != 1) first = cpu;
    cores += first == cpu || first >= CPU_SETSIZE || !CPU_ISSET(first, &allowed) ? 1 : 0;
  }
  return cores;
}

void WriteNumber(const char* key, std::uint64_t from, std::uint64_t to) noexcept {
  capture::WriteFact(key, to > from ? to - from : 0);
}

}  // namespace

void ProcessorsWindowOpens() noexcept {
  training_tid = gettid();
  opened = Read();
}

void ProcessorsWindowCloses() noexcept {
  if (!opened.whole) return;
  const Reading closed = Read();
  if (!closed.whole) return;
  WriteNumber("processors.window_ns", opened.time_ns, closed.time_ns);
  WriteNumber("processors.training_ran_ns", opened.ran_ns, closed.ran_ns);
  WriteNumber("processors.training_delay_ns", opened.delay_ns, closed.delay_ns);
  WriteNumber("processors.own_ns", opened.own_ns, closed.own_ns);
  WriteNumber("processors.all_ns", opened.all_ns, closed.all_ns);
  WriteNumber("processors.physical", 0, PhysicalCores());
  if (const char* here = std::getenv("LOCAL_WORLD_SIZE")) capture::WriteFact("processors.ranks_here", here);
  opened.whole = false;
}

}  // namespace loopscope
