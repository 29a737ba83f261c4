// The ranks as a group that exchanges tensors: those of the CPU through gloo, those of GPUs through NCCL or gloo.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <memory>

#include "workloads/common/ranks/ranks.h"

namespace c10d {
class Backend;
class ProcessGroup;
}  // namespace c10d

namespace loopscope::train {

class RankGroup {
 public:
  // Meets the other ranks; a call that they do not answer within `timeout` throws. With `nccl` each of them has a GPU,
  // torch's current one.
  RankGroup(const Ranks& ranks, std::chrono::seconds timeout, bool nccl);
  ~RankGroup();

  // From rank 0 to all, in place.
  void Broadcast(const torch::Tensor& tensor);
  // The sum over all ranks, in place; every rank, or its GPU's stream, waits for it.
  void Sum(const torch::Tensor& tensor);
  void Barrier();

  const Ranks& ranks() const { return ranks_; }
  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group() const { return group_; }

 private:
  Ranks ranks_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  c10::intrusive_ptr<c10d::Backend> on_gpus_;  // NCCL; else null
};

}  // namespace loopscope::train
