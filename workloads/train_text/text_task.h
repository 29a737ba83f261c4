// Eight classes of texts and the network that tells them apart.
#pragma once

#include <memory>
#include <optional>

#include "workloads/common/batch_stream.h"
#include "workloads/common/task.h"
#include "workloads/train_text/batches.h"
#include "workloads/train_text/model.h"

namespace loopscope::train::text {

class TextTask : public Task {
 public:
  explicit TextTask(const Settings& settings);

  torch::nn::Module& model() override { return *model_; }
  long batches_per_epoch() const override { return settings_.train_texts / settings_.batch_size; }
  long validation_samples() const override { return settings_.val_texts; }
  void StartEpoch(int epoch) override;
  void StartEvaluation() override;
  std::optional<Batch> Next() override;
  torch::Tensor Scores(const Batch& batch) override { return model_(batch.inputs, batch.padding); }
  InEffect ReadBack() const override;

 private:
  const Settings& settings_;
  TextBatches train_batches_;
  std::unique_ptr<TrainLoader> train_;
  std::unique_ptr<ValidationLoader> validation_;
  std::optional<BatchStream<TrainLoader, Batch>> train_pass_;
  std::optional<BatchStream<ValidationLoader, Batch>> validation_pass_;
  TextNetwork model_;
};

}  // namespace loopscope::train::text
