// Gradients averaged over the ranks while the backward pass runs, like DistributedDataParallel: buckets, one all-reduce
// each, started as soon as the bucket's gradients are ready.
#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "workloads/common/ranks/rank_group.h"

namespace c10d {
class Reducer;
}

namespace loopscope::train {

struct DataParallelOptions {
  double bucket_mb = 25;     // MiB of gradients that travel together
  bool find_unused = false;  // search the graph of every step for parameters without a gradient
  int exchanges = 1;         // added per bucket: simulates a slower link
};

class DataParallel {
 public:
  // Gives every rank rank 0's parameters and buffers. Before the optimizer is made, so that both see the same tensors.
  DataParallel(RankGroup& group, torch::nn::Module& module, const DataParallelOptions& options);
  ~DataParallel();

  // Around the forward pass of a batch. With `exchange` false its gradients stay on this rank, to be exchanged together
  // with those of a later batch.
  void BeforeForward(bool exchange);
  void AfterForward(const torch::Tensor& output, bool exchange);

 private:
  bool find_unused_;
  std::shared_ptr<c10d::Reducer> reducer_;
};

}  // namespace loopscope::train
