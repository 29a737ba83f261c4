// Any bytes as a trace of PyTorch's profiler, plain or compressed: read, put in order, looked at.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profiler/core/seam.h"
#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"

namespace {

using namespace loopscope;

void LookAtHost(const Timeline& timeline) {
  std::size_t seen = 0;
  for (std::uint32_t t = 0; t < timeline.trace().threads.size(); ++t) {
    std::int64_t last = INT64_MIN;
    timeline.ForEach(t, {INT64_MIN, INT64_MAX}, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (event.start_ns < last || event.end_ns < event.start_ns || timeline.self_ns(ref) < 0) std::abort();
      last = event.start_ns;
      seen += timeline.name(ref).size() + ParseInputs(timeline.inputs(ref)).size() + (timeline.where(ref) != nullptr);
    });
  }
  for (const Step& step : timeline.steps()) {
    std::int64_t rest = step.time.length();
    for (const std::int64_t part : step.parts_ns) rest -= part;
    if (rest != 0) std::abort();
  }
}

void LookAtDevices(const Trace& trace) {
  for (const Device& device : trace.devices) {
    std::int64_t last = INT64_MIN;
    for (const DeviceEvent& event : device.events) {
      if (event.start_ns < last || event.end_ns < event.start_ns || event.name >= trace.strings.size()) std::abort();
      if (event.group != kNone && event.group >= trace.collectives.size()) std::abort();
      last = event.start_ns;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("kineto", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const Importer* const kineto = FindById(AllImporters(), "kineto");
  kineto->sniff({reinterpret_cast<const char*>(data), size < 4096 ? size : 4096});
  Result<Trace> trace = kineto->read({"/proc/self/fd/" + std::to_string(file)});
  close(file);
  if (trace) {
    LookAtDevices(*trace);
    LookAtHost(Timeline::Build(std::move(*trace)));
  } else if (trace.error().what.empty()) {
    std::abort();
  }
  return 0;
}
