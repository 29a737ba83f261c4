// threads=N: how many threads an operator computes with; the environment sets it.
#include <ATen/Parallel.h>

#include "probes/torch/applier.h"

namespace loopscope {
namespace {

std::string RefusalOfThreads(std::string_view) {
  return "";
}

std::string ReadThreads() {
  return std::to_string(at::get_num_threads());
}

}  // namespace

extern const Applier kThreads{"threads", "OMP_NUM_THREADS", RefusalOfThreads, ReadThreads, nullptr, nullptr, nullptr};

}  // namespace loopscope
