// Shows lines of the program that call no operator: they open a file (streams use fopen), or wait for a lock. write(2)
// is not interposed, since signal handlers call it, nor malloc, since recording calls it.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "probes/calls/interposed.h"
#include "probes/export.h"

namespace loopscope {
namespace {

constexpr std::uint64_t kWorthRecordingNs = 20'000;  // of waits for locks

std::atomic<const CallObserver*> call_observer{nullptr};
std::atomic<std::uintptr_t> program_begin{0}, program_end{0};
thread_local bool observing = false;  // recording may itself call these functions

const CallObserver* Observer() noexcept {
  return observing ? nullptr : call_observer.load(std::memory_order_acquire);
}

void Tell(const CallObserver& observer, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  const int error = errno;
  observing = true;
  observer.called(name, begin_ns, end_ns);
  observing = false;
  errno = error;
}

// The program's own code, which is the first loaded object.
void FindProgram() noexcept {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        for (int n = 0; n < info->dlpi_phnum; ++n) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[n];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          program_begin.store(info->dlpi_addr + segment.p_vaddr, std::memory_order_relaxed);
          program_end.store(info->dlpi_addr + segment.p_vaddr + segment.p_memsz, std::memory_order_relaxed);
        }
        return 1;
      },
      nullptr);
}

bool OfTheCLibrary(const char* name) noexcept {
  Dl_info of_name{}, of_library{};
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr && dladdr(found, &of_name) != 0 &&
         dladdr(reinterpret_cast<void*>(&abort), &of_library) != 0 &&
         std::strcmp(of_name.dli_fname, of_library.dli_fname) == 0;
}

bool CalledByProgram(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= program_begin.load(std::memory_order_relaxed) && at < program_end.load(std::memory_order_relaxed);
}

template <class Function>
[[gnu::cold]] Function* Find(std::atomic<Function*>& known, const char* name) noexcept {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  known.store(function, std::memory_order_relaxed);
  return function;
}

template <class Function>
Function* Next(std::atomic<Function*>& known, const char* name) noexcept {
  Function* const function = known.load(std::memory_order_relaxed);
  return function != nullptr ? function : Find(known, name);
}

using Open = std::FILE*(const char*, const char*);
using Lock = int(pthread_mutex_t*) noexcept;

std::FILE* Opened(Open* real, const char* path, const char* mode) {
  const CallObserver* const observer = Observer();
  if (observer == nullptr) return real(path, mode);
  const std::uint64_t begin_ns = observer->now_ns();
  std::FILE* const file = real(path, mode);
  Tell(*observer, "fopen", begin_ns, observer->now_ns());
  return file;
}

constinit std::atomic<Open*> real_fopen{nullptr}, real_fopen64{nullptr};
constinit std::atomic<Lock*> real_lock{nullptr};
std::atomic<bool> locks{false};

// Of the program's own code only: libraries lock what they never wait for.
[[gnu::noinline]] int Locked(Lock& real, pthread_mutex_t* mutex, const void* caller) noexcept {
  const CallObserver* const observer = Observer();
  if (observer == nullptr || !locks.load(std::memory_order_relaxed) || !CalledByProgram(caller)) return real(mutex);
  const int tried = pthread_mutex_trylock(mutex);
  if (tried != EBUSY) return tried;
  const std::uint64_t begin_ns = observer->now_ns();
  const int result = real(mutex);
  const std::uint64_t end_ns = observer->now_ns();
  if (end_ns - begin_ns >= kWorthRecordingNs) Tell(*observer, "pthread_mutex_lock", begin_ns, end_ns);
  return result;
}

}  // namespace

void ObserveCalls(const CallObserver* observer) noexcept {
  FindProgram();
  // Another allocator may call this while holding its lock, and recording allocates.
  locks.store(OfTheCLibrary("malloc"), std::memory_order_relaxed);
  call_observer.store(observer, std::memory_order_release);
}

}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT std::FILE* fopen(const char* path, const char* mode) {
  return loopscope::Opened(loopscope::Next(loopscope::real_fopen, "fopen"), path, mode);
}

extern "C" LOOPSCOPE_EXPORT std::FILE* fopen64(const char* path, const char* mode) {
  return loopscope::Opened(loopscope::Next(loopscope::real_fopen64, "fopen64"), path, mode);
}

extern "C" LOOPSCOPE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using namespace loopscope;
  auto* const real = Next(real_lock, "pthread_mutex_lock");
  // A step of a Python program comes here a thousand times, and nobody observes it.
  if (call_observer.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return real(mutex);
  return Locked(*real, mutex, __builtin_return_address(0));
}
