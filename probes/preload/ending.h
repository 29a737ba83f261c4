// The end of a bounded run: on the training thread, at a step boundary, without unwinding the program, and together
// with the other ranks.
#pragma once

#include <cstdint>

#include "probes/preload/settings.h"

namespace loopscope {

// From now on the process ends within half a minute: flushing may wait forever for a stream that another thread holds,
// or for a reader.
void StartWatchdog(const Settings& settings) noexcept;

// Waits for the other ranks and the device, flushes the program's streams, ends its child processes, closes the capture
// as complete and exits with status 0.
[[noreturn]] void EndProgram(const Settings& settings) noexcept;

// Lets the ranks of a run end together, through files in the run folder: we must not use the program's own process
// group. Ranks with another folder (on other machines) are not waited for.

// Announces to the other ranks of this run that this one has begun; they then wait for it at the end.
void AnnounceRank(const Settings& settings) noexcept;

// The step at which all ranks end, counted from the run's start, as the first of them proposed. 0: no proposal yet, or
// the folder is unreadable.
std::uint64_t AgreedEnd(const Settings& settings) noexcept;
// Proposes `step`; returns the step agreed on: this one, or what another rank proposed before. Ranks that meet in every
// step are at most one apart, so that none is beyond the next step of the one that proposes it.
std::uint64_t ProposeEnd(const Settings& settings, std::uint64_t step) noexcept;

// Waits until every rank that began has come here too, or the ranks' timeout: a rank that leaves alone would make the
// others' next collective fail.
void MeetRanks(const Settings& settings) noexcept;

}  // namespace loopscope
