// The module for ddp.backend=nccl: the only file that includes NCCL's header.
#define USE_C10D_NCCL
#include "workloads/common/ranks/nccl.h"

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

extern "C" __attribute__((visibility("default"))) void train_make_nccl_backend(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout,
    c10::intrusive_ptr<c10d::Backend>& made) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  made = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
}
