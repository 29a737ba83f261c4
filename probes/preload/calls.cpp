#include "probes/preload/calls.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "probes/capture/records.h"
#include "probes/capture/writer.h"
#include "probes/export.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/loop.h"

namespace loopscope {
namespace {

constexpr OpCalls kNone{};
constexpr CallTable kNothing{.real_op_calls = [] { return &kNone; },
                             .set_op_calls = [](const OpCalls&, const std::atomic<std::uint32_t>&) {},
                             .observe_memory = [](const MemoryObserver*) {},
                             .observe_waits = [](const WaitObserver*) {},
                             .observe_calls = [](const CallObserver*) {}};

}  // namespace

const CallTable& Calls() noexcept {
  static const CallTable& found = [] {
    auto* const table = reinterpret_cast<const CallTable* (*)()>(dlsym(RTLD_DEFAULT, "loopscope_calls_v1"));
    return table != nullptr ? *table() : kNothing;
  }();
  return found;
}

// Waits of a C++ program itself: it sleeps, or waits for its disk. An interpreter's lines come from following
// calls.

namespace {

// Recording a shorter wait would cost more than the wait itself.
constexpr std::uint64_t kWorthRecordingNs = 20'000;

// Python stacks need the interpreter's lock, which a sleeping thread has released.
bool HasInterpreter() noexcept {
  static const bool has = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
  return has;
}

template <class Call>
auto Timed(const char* name, const Call& call) {
  if (!loop::Tracing() || HasInterpreter()) return call();
  const std::uint64_t begin_ns = capture::NowNs();
  const auto result = call();
  const int error = errno;
  const std::uint64_t end_ns = capture::NowNs();
  if (end_ns - begin_ns >= kWorthRecordingNs) loop::Pause(name, begin_ns, end_ns);
  errno = error;
  return result;
}

// The line is assumed until the next operator: further calls until then add nothing.
constexpr std::uint64_t kBetweenCallsNs = 200'000;
thread_local std::uint64_t next_call_ns = 0;

void Called(const char* name, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (!loop::Tracing() || begin_ns < next_call_ns) return;
  next_call_ns = end_ns + kBetweenCallsNs;
  capture::WriteRange(wire::RangeCategory::kPause, capture::StringId(name), begin_ns, end_ns, 0, CallStackId());
}

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void RecordCalls() noexcept {
  static constexpr CallObserver observer{.now_ns = capture::NowNs, .called = Called};
  if (!HasInterpreter()) Calls().observe_calls(&observer);
}

}  // namespace loopscope

extern "C" {

LOOPSCOPE_EXPORT int nanosleep(const timespec* length, timespec* left) {
  static auto* real = loopscope::Next<decltype(nanosleep)>("nanosleep");
  return loopscope::Timed("nanosleep", [&] { return real(length, left); });
}

LOOPSCOPE_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto* real = loopscope::Next<decltype(clock_nanosleep)>("clock_nanosleep");
  return loopscope::Timed("clock_nanosleep", [&] { return real(clock, flags, time, left); });
}

LOOPSCOPE_EXPORT int usleep(useconds_t length) {
  static auto* real = loopscope::Next<decltype(usleep)>("usleep");
  return loopscope::Timed("usleep", [&] { return real(length); });
}

LOOPSCOPE_EXPORT unsigned sleep(unsigned seconds) {
  static auto* real = loopscope::Next<decltype(sleep)>("sleep");
  return loopscope::Timed("sleep", [&] { return real(seconds); });
}

LOOPSCOPE_EXPORT int fsync(int file) {
  static auto* real = loopscope::Next<decltype(fsync)>("fsync");
  return loopscope::Timed("fsync", [&] { return real(file); });
}

LOOPSCOPE_EXPORT int fdatasync(int file) {
  static auto* real = loopscope::Next<decltype(fdatasync)>("fdatasync");
  return loopscope::Timed("fdatasync", [&] { return real(file); });
}

}  // extern "C"
