// A metric that the launcher waits for (probes/environment.h, kTarget).
#pragma once

namespace loopscope {

// The program reported a metric: if it is the awaited one and has reached its target, notifies the launcher, which ends
// the program.
void NoteMetric(const char* name, double value) noexcept;

}  // namespace loopscope
