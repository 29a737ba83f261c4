// NVTX ranges around the phases of training. Without a tool that listens they cost a few nanoseconds.
#pragma once

#ifdef TRAIN_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace loopscope::train {

class PhaseRange {
 public:
#ifdef TRAIN_NVTX
  explicit PhaseRange(const char* name) { nvtxRangePushA(name); }
  ~PhaseRange() { nvtxRangePop(); }
#else
  explicit PhaseRange(const char*) {}
  ~PhaseRange() {}
#endif
  PhaseRange(const PhaseRange&) = delete;
  PhaseRange& operator=(const PhaseRange&) = delete;
};

}  // namespace loopscope::train
