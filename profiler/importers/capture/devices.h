// The devices of a capture: their activity, from records that are written late, by unrelated threads, and what NVML
// reported about them while the program ran (marks kDeviceSample).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/file.h"
#include "profiler/importers/capture/left_out.h"
#include "profiler/importers/capture/threads.h"

namespace loopscope {

// Records of device activity that could not be used.
struct DeviceLosses {
  std::uint64_t impossible = 0;      // their times cannot be
  std::uint64_t without_device = 0;  // which of several devices did it is unknown
};

// Adds devices, their events by start, the collectives, and the calls of runtime and driver to the threads that made
// them (or to threads of their own where nothing else of them was recorded). Called once the threads and facts are in
// `trace`. Returns how many records were left out.
DeviceLosses AddDevices(const std::vector<ChunkView>& chunks, const IdMap& ids, const LeftOut& left_out, Trace& trace);

// Warnings for the report about them, one line each.
std::vector<std::string> DeviceWarnings(const Trace& trace);

// One line for each device whose clock was throttled in at least a tenth of its samples: its times are not those at
// full speed, and differ from run to run.
std::vector<std::string> SlowedDevices(const Trace& trace);

}  // namespace loopscope
