// Lets the ranks of a run end together, through files in the run folder: we must not use the program's own process
// group. Ranks with another folder (on other machines) are not waited for.
#pragma once

#include <cstdint>

#include "probes/preload/settings.h"

namespace loopscope {

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
