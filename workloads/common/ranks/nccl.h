// NCCL for ranks that have a GPU each: in a module beside the program, since the program itself links no CUDA.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace loopscope::train {

// Joins the ranks that share `store`; each uses torch's current GPU. A collective that the others do not answer within
// `timeout` ends the process, as NCCL's watchdog does. Throws c10::Error.
using MakeNcclBackend = void (*)(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                 std::chrono::milliseconds timeout, c10::intrusive_ptr<c10d::Backend>& made);

// The module's one entry.
inline constexpr char kNcclModule[] = "libtrain_nccl.so", kMakeNcclBackend[] = "train_make_nccl_backend";

}  // namespace loopscope::train
