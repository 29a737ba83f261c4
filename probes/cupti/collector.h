// CUPTI's activity records of this process, from the moment the driver starts until the program ends.
//
// Does not subscribe: there can be only one subscriber in a process, and torch.profiler needs it. CUPTI's own thread
// delivers full buffers, and partial ones on request once a second; they are decoded into the capture there and never
// stored raw.
#pragma once

#include "probes/cupti/calls.h"
#include "probes/cupti/cupti_library.h"
#include "probes/preload/probe_api.h"

namespace loopscope {

// Turns recording on. Returns null, or why it stays off; then no records are taken. Once per process.
const char* StartCollector(const Cupti& cupti, const ProbeApi* api) noexcept;

// Flushes CUPTI, for at most a few seconds, and writes what was lost. Later calls do nothing, and so
// does a forked child's.
void FinishCollector() noexcept;

// Makes room for another client of CUPTI, which is about to register: records are no longer taken, what CUPTI holds is
// written as at the end, and a mark says so. For good: a second client changes what the first one gets.
void LeaveCuptiTo(const char* client) noexcept;

// The kinds of records requested from CUPTI.

// Turns them on; after an error none is on. If calls cannot be enabled one by one, all are recorded.
CUptiResult EnableKinds(const Cupti& cupti, Calls wanted) noexcept;

void DisableKinds(const Cupti& cupti) noexcept;

}  // namespace loopscope
