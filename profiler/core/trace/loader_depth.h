// How far ahead a program's dataloader prefetches, as recorded by probes.
#pragma once

#include "profiler/core/trace/trace.h"

namespace loopscope {

struct LoaderDepth {
  int workers = 0;
  int prefetch = 2;  // batches per worker: the default of LibTorch's and of PyTorch's loader

  int run_ahead() const { return workers * prefetch; }  // batches; 0 none or unknown
};

LoaderDepth LoaderDepthOf(const Trace& trace);

}  // namespace loopscope
