// Any bytes as a capture: read, put in order, looked at.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"

namespace {

void LookAt(const loopscope::Timeline& timeline) {
  std::size_t seen = 0;
  for (std::uint32_t t = 0; t < timeline.trace().threads.size(); ++t) {
    timeline.ForEach(t, {0, INT64_MAX}, [&](loopscope::EventRef ref) {
      seen += timeline.name(ref).size() + loopscope::ParseInputs(timeline.inputs(ref)).size();
      seen += timeline.where(ref) != nullptr;
      if (timeline.self_ns(ref) < 0) std::abort();
    });
  }
  for (const loopscope::IdleTensor& tensor : timeline.trace().idle_tensors) {
    if (tensor.thread != loopscope::kNone && tensor.thread >= timeline.trace().threads.size()) std::abort();
    if (tensor.allocated_ns < 0 || tensor.used_ns < 0 || tensor.freed_ns < 0) std::abort();
  }
  for (const loopscope::Step& step : timeline.steps()) {
    std::int64_t rest = step.time.length();
    for (const std::int64_t part : step.parts_ns) rest -= part;
    if (rest != 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("capture", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  loopscope::Result<loopscope::Trace> trace = loopscope::ReadAnyTrace("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (trace) {
    LookAt(loopscope::Timeline::Build(std::move(*trace)));
  } else if (trace.error().what.empty()) {
    std::abort();
  }
  return 0;
}
