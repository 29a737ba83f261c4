#include "probes/preload/process/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/capture/records.h"

namespace loopscope {
namespace {

// As much of the file, a small one of /proc, as fits into `into`, null-terminated; "" where it cannot be read.
template <std::size_t N>
char* ReadStart(const char* path, char (&into)[N]) noexcept {
  into[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return into;
  std::size_t used = 0;
  for (ssize_t got = 0; used < N - 1 && (got = read(fd, into + used, N - 1 - used)) > 0;) {
    used += static_cast<std::size_t>(got);
  }
  into[used] = '\0';
  close(fd);
  return into;
}

std::uint64_t Smaller(std::uint64_t limit, std::uint64_t other) noexcept {
  return other != 0 && other < limit ? other : limit;
}

// The tightest limit from `group` up to the root of the hierarchy mounted at `mount`; "max" reads as none.
std::uint64_t TightestLimit(const char* mount, const char* group, const char* file, std::uint64_t limit) noexcept {
  char folder[1024];
  if (std::snprintf(folder, sizeof folder, "%s%s", mount, group) >= static_cast<int>(sizeof folder)) return limit;
  const std::size_t root = std::strlen(mount);
  while (true) {
    char path[1152], text[64];
    std::snprintf(path, sizeof path, "%s/%s", folder, file);
    limit = Smaller(limit, std::strtoull(ReadStart(path, text), nullptr, 10));
    char* slash = std::strrchr(folder, '/');
    if (slash == nullptr || slash < folder + root) return limit;
    *slash = '\0';
  }
}

// `line` is one of /proc/self/cgroup: "0::/group" (v2), "4:memory:/group" (v1).
std::uint64_t LimitOfGroup(char* line, std::uint64_t limit) noexcept {
  char* controllers = std::strchr(line, ':');
  char* group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
  if (group == nullptr) return limit;
  *group++ = '\0';
  if (controllers[1] == '\0') return TightestLimit("/sys/fs/cgroup", group, "memory.max", limit);
  if (std::strcmp(controllers + 1, "memory") != 0) return limit;
  return TightestLimit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", limit);
}

}  // namespace

std::uint64_t MemoryLimitBytes() noexcept {
  char text[4096];
  const char* total = std::strstr(ReadStart("/proc/meminfo", text), "MemTotal:");
  std::uint64_t limit = total != nullptr ? std::strtoull(total + 9, nullptr, 10) * 1024 : 0;
  if (limit == 0) return 0;
  ReadStart("/proc/self/cgroup", text);
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
    limit = LimitOfGroup(line, limit);
  }
  return limit;
}

std::uint64_t ResidentBytes() noexcept {
  char text[128];
  const char* second = std::strchr(ReadStart("/proc/self/statm", text), ' ');
  if (second == nullptr) return 0;
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char* third = nullptr;
  const std::uint64_t resident = std::strtoull(second, &third, 10);
  const std::uint64_t shared = std::strtoull(third, nullptr, 10);
  return (resident - (shared < resident ? shared : resident)) * page_bytes;
}

std::uint64_t PeakBytes() noexcept {
  char text[4096];
  const char* line = std::strstr(ReadStart("/proc/self/status", text), "VmHWM:");
  return line != nullptr ? std::strtoull(line + 6, nullptr, 10) * 1024 : 0;
}

bool ResetPeak() noexcept {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool reset = write(fd, "5", 1) == 1;
  close(fd);
  return reset;
}

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

namespace {

std::uint64_t ReadClock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t ProcessStartNs() noexcept {
  constexpr int kStartField = 22;  // proc(5): in clock ticks since boot
  char text[1024];
  const char* at = std::strrchr(ReadStart("/proc/self/stat", text), ')');  // the program's name may hold spaces
  for (int field = 2; at != nullptr && field < kStartField; ++field) at = std::strchr(at + 1, ' ');
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  if (at == nullptr || ticks_per_s <= 0) return 0;
  const std::uint64_t since_boot =
      std::strtoull(at, nullptr, 10) * (1'000'000'000 / static_cast<std::uint64_t>(ticks_per_s));
  // CLOCK_BOOTTIME also counts suspend. It is read last, so it is never behind.
  const std::uint64_t now_ns = ReadClock(CLOCK_MONOTONIC);
  const std::uint64_t age_ns = ReadClock(CLOCK_BOOTTIME) - since_boot;
  return age_ns < now_ns ? now_ns - age_ns : 0;
}

}  // namespace loopscope
