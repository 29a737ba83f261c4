// A metric that the launcher waits for (probes/environment.h, kTarget).
#pragma once

namespace loopscope {

// The program told of a metric: when it is the one that is waited for, and there, the launcher is told, which ends the
// program.
void NoteMetric(const char* name, double value) noexcept;

}  // namespace loopscope
