// Any bytes as an Nsight Systems export: read, put in order, looked at.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "profiler/core/report/rank_summary.h"
#include "profiler/importers/importers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SQLite opens by name, and follows links: a memfd has none that it could open.
  static const std::string path = "/dev/shm/loopscope-nsys-fuzz-" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  loopscope::Result<loopscope::Trace> trace = loopscope::ReadAnyTrace(path);
  std::remove(path.c_str());
  if (!trace) {
    if (trace.error().what.empty()) std::abort();
    return 0;
  }
  for (const loopscope::Device& device : trace->devices) {
    for (const loopscope::DeviceEvent& event : device.events) {
      if (event.start_ns > event.end_ns) std::abort();
    }
  }
  const loopscope::Timeline timeline = loopscope::Timeline::Build(std::move(*trace));
  for (const loopscope::Step& step : timeline.steps()) {
    std::int64_t rest = step.time.length();
    for (const std::int64_t part : step.parts_ns) rest -= part;
    if (rest != 0) std::abort();
  }
  loopscope::SummarizeRank(timeline, "input");
  return 0;
}
