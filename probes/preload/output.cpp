// Text that a C++ program writes, recorded as ranges: its streams and fmt go through fwrite and fflush. write(2) is
// left alone, since signal handlers call it.
#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "probes/capture/writer.h"
#include "probes/export.h"
#include "probes/preload/loop.h"

namespace loopscope {
namespace {

// Recording a shorter call would cost more than the call itself.
constexpr std::uint64_t kWorthRecordingNs = 2'000;

template <class Call>
auto Timed(const char* name, std::uint64_t bytes, const Call& call) {
  if (!loop::Tracing()) return call();
  const std::uint64_t begin_ns = capture::NowNs();
  const auto result = call();
  const int error = errno;
  const std::uint64_t end_ns = capture::NowNs();
  if (end_ns - begin_ns >= kWorthRecordingNs) loop::Output(name, begin_ns, end_ns, bytes);
  errno = error;
  return result;
}

}  // namespace
}  // namespace loopscope

extern "C" {

LOOPSCOPE_EXPORT std::size_t fwrite(const void* items, std::size_t size, std::size_t count, std::FILE* file) {
  static auto* real = reinterpret_cast<decltype(&fwrite)>(dlsym(RTLD_NEXT, "fwrite"));
  return loopscope::Timed("fwrite", size * count, [&] { return real(items, size, count, file); });
}

LOOPSCOPE_EXPORT int fflush(std::FILE* file) {
  static auto* real = reinterpret_cast<decltype(&fflush)>(dlsym(RTLD_NEXT, "fflush"));
  return loopscope::Timed("fflush", 0, [&] { return real(file); });
}

}  // extern "C"
