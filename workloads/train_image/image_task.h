// Ten classes of pictures and the network that tells them apart.
#pragma once

#include <memory>
#include <optional>

#include "workloads/common/batch_stream.h"
#include "workloads/common/task.h"
#include "workloads/train_image/loader.h"
#include "workloads/train_image/model.h"

namespace loopscope::train::image {

class ImageTask : public Task {
 public:
  ImageTask(const Settings& settings, const DataSet& data);

  torch::nn::Module& model() override { return *model_; }
  long batches_per_epoch() const override { return settings_.train_images / settings_.batch_size; }
  long validation_samples() const override { return settings_.val_images; }
  void StartEpoch(int epoch) override;
  void StartEvaluation() override;
  std::optional<Batch> Next() override;
  torch::Tensor Scores(const Batch& batch) override;
  InEffect ReadBack() const override;

 private:
  torch::Tensor Images(const Batch& batch) const;

  const Settings& settings_;
  std::shared_ptr<Draws> draws_;
  ImageBatches train_batches_;
  std::unique_ptr<TrainLoader> train_;
  std::unique_ptr<ValidationLoader> validation_;
  std::optional<BatchStream<TrainLoader, Batch>> train_pass_;
  std::optional<BatchStream<ValidationLoader, Batch>> validation_pass_;
  ImageNetwork model_;
};

}  // namespace loopscope::train::image
