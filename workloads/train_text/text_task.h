// Eight classes of texts and the network that classifies them.
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
  long batches_per_epoch() const override { return BatchesPerEpoch(settings_, settings_.train_texts); }
  long validation_samples() const override { return settings_.val_texts; }
  void StartEpoch(int epoch) override;
  void StartEvaluation() override;
  std::optional<Batch> Next() override;
  torch::Tensor Scores(const Batch& batch) override { return model_(batch.inputs, batch.padding); }
  InEffect ReadBack() const override;

 private:
  const Settings& settings_;
  TextBatches train_batches_;
  std::shared_ptr<int> epoch_ = std::make_shared<int>(0);  // that the sampler shuffles by
  std::unique_ptr<TextLoader> train_, validation_;
  std::optional<BatchStream<TextLoader, Batch>> train_pass_, validation_pass_;
  TextNetwork model_;
};

}  // namespace loopscope::train::text
