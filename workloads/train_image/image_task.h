// Ten classes of pictures and the network that classifies them.
#pragma once

#include <memory>
#include <optional>

#include "workloads/common/batch_stream.h"
#include "workloads/common/ranks/rank_sampler.h"
#include "workloads/common/ranks/replicas.h"
#include "workloads/common/task.h"
#include "workloads/train_image/loader.h"
#include "workloads/train_image/model.h"

namespace loopscope::train::image {

class ImageTask : public Task {
 public:
  ImageTask(const Settings& settings, const DataSet& data);

  torch::nn::Module& model() override { return *model_; }
  long batches_per_epoch() const override { return BatchesPerEpoch(settings_, TrainSamples(settings_)); }
  long validation_samples() const override { return settings_.val_images; }
  void StartEpoch(int epoch) override;
  void StartEvaluation() override;
  std::optional<Batch> Next() override;
  torch::Tensor Scores(const Batch& batch) override;
  InEffect ReadBack() const override;

 private:
  torch::Tensor Images(const Batch& batch) const;
  torch::Tensor Noise(const torch::Tensor& images) const;

  const Settings& settings_;
  std::shared_ptr<Draws> draws_;
  ImageBatches train_batches_;
  std::shared_ptr<int> epoch_ = std::make_shared<int>(0);
  std::unique_ptr<Loader<ImageBatches>> train_, validation_;
  std::optional<BatchStream<Loader<ImageBatches>, Batch>> train_pass_, validation_pass_;
  ImageNetwork model_;
  std::optional<Replicas> replicas_;  // with data_parallel
};

}  // namespace loopscope::train::image
