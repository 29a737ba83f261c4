#include "probes/preload/call_stack.h"

#include <link.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <set>
#include <utility>

#include "probes/capture/records.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 64;

struct Frames {
  std::uint64_t addresses[kMaxFrames];
  std::size_t count = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* into) {
  auto& frames = *static_cast<Frames*>(into);
  const std::uint64_t address = _Unwind_GetIP(context);
  if (address == 0 || frames.count == kMaxFrames) return _URC_END_OF_STACK;
  frames.addresses[frames.count++] = address;
  return _URC_NO_REASON;
}

// Count of modules ever loaded: changes with every dlopen.
std::uint64_t ModuleLoads() noexcept {
  std::uint64_t loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        *static_cast<std::uint64_t*>(into) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

std::atomic<std::uint64_t> loads_written{0};
std::atomic<std::uint32_t (*)() noexcept> stack_taker{nullptr};

struct Writing {
  std::set<std::pair<std::uint64_t, std::uint64_t>>* known;
  char executable[PATH_MAX];
};

int WriteModule(dl_phdr_info* info, std::size_t, void* into) {
  auto& writing = *static_cast<Writing*>(into);
  const char* path = info->dlpi_name != nullptr && *info->dlpi_name != '\0' ? info->dlpi_name : writing.executable;
  for (int n = 0; n < info->dlpi_phnum; ++n) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[n];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (!writing.known->emplace(begin, segment.p_memsz).second) continue;
    const wire::ModuleRecord record{capture::HeadOf<wire::ModuleRecord>(wire::RecordKind::kModule, 0),
                                    capture::StringId(path),
                                    begin,
                                    begin + segment.p_memsz,
                                    segment.p_offset,
                                    static_cast<std::uint32_t>(getpid()),
                                    0};
    capture::Append(&record, sizeof record);
  }
  return 0;
}

}  // namespace

std::uint32_t CallStackId() noexcept {
  if (auto* taker = stack_taker.load(std::memory_order_relaxed)) return taker();
  Frames frames;
  _Unwind_Backtrace(AddFrame, &frames);
  bool is_new = false;
  const std::uint32_t id = capture::StackId(frames.addresses, frames.count, &is_new);
  if (is_new && ModuleLoads() != loads_written.load(std::memory_order_relaxed)) WriteModules();
  return id;
}

void TakeStacksWith(std::uint32_t (*taker)() noexcept) noexcept {
  stack_taker.store(taker);
}

void WarmUpCallStacks() noexcept {
  Frames frames;
  _Unwind_Backtrace(AddFrame, &frames);
}

void WriteModules() noexcept {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  if (pthread_mutex_trylock(&lock) != 0) return;
  try {
    static auto* known = new std::set<std::pair<std::uint64_t, std::uint64_t>>;
    loads_written.store(ModuleLoads());
    Writing writing{known, ""};
    const ssize_t length = readlink("/proc/self/exe", writing.executable, sizeof writing.executable - 1);
    writing.executable[length > 0 ? length : 0] = '\0';
    dl_iterate_phdr(WriteModule, &writing);
  } catch (...) {
    capture::WriteMark(wire::MarkKind::kProbeOff, "out of memory: some call stacks cannot be named");
  }
  pthread_mutex_unlock(&lock);
}

}  // namespace loopscope
