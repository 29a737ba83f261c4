// What an Nsight Systems export says about the run and the machine, and how far it can be trusted.
#pragma once

#include "profiler/core/trace/trace.h"
#include "profiler/importers/nsys/database.h"
#include "profiler/importers/nsys/processes.h"

namespace loopscope {

RunInfo NsysRunInfo(NsysDatabase& database);

// Names of `process`'s devices, where the export has them.
void NameNsysDevices(NsysDatabase& database, std::uint32_t pid, std::vector<Device>& devices);

// What was not recorded and what went wrong while recording, each with what to do about it.
void JudgeNsysQuality(NsysDatabase& database, const NsysTables& tables, bool has_steps, Trace& trace);

}  // namespace loopscope
