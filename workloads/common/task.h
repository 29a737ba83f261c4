// The data and the network of one program. The loop around them is in training.h, the same for all.
#pragma once

#include <torch/nn/module.h>

#include <optional>

#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {

struct Batch {
  torch::Tensor inputs;   // (batch, ...)
  torch::Tensor labels;   // int64 (batch)
  torch::Tensor padding;  // bool (batch, length), true where there is no token; undefined where nothing is padded
};

class Task {
 public:
  virtual ~Task() = default;

  virtual torch::nn::Module& model() = 0;
  virtual long batches_per_epoch() const = 0;
  virtual long validation_samples() const = 0;

  // Begin a pass over the training or the validation samples; the one before has come to its end.
  virtual void StartEpoch(int epoch) = 0;
  virtual void StartEvaluation() = 0;
  // The next batch of that pass; none at its end.
  virtual std::optional<Batch> Next() = 0;

  // The class scores (batch, classes) of a batch.
  virtual torch::Tensor Scores(const Batch& batch) = 0;

  virtual InEffect ReadBack() const = 0;
};

}  // namespace loopscope::train
