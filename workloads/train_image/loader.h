// The loader: batches of decoded, augmented images through LibTorch's DataLoader.
#pragma once

#include <torch/data/dataloader.h>
#include <torch/data/datasets/base.h>
#include <torch/data/samplers/random.h>
#include <torch/data/samplers/sequential.h>

#include <atomic>
#include <memory>
#include <vector>

#include "workloads/train_image/data_set.h"
#include "workloads/train_image/jpeg.h"

namespace loopscope::train_image {

struct Batch {
  torch::Tensor images;  // float (batch, 3, size, size)
  torch::Tensor labels;  // int64 (batch)
};

// Where augmentation draws from. By default all threads share one sequence, so that with several workers the draws
// depend on who comes first; with `by_sample` they depend on seed, epoch and image alone.
struct Draws {
  std::uint64_t seed = 0;
  bool by_sample = false;
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint64_t> next{0};

  std::uint64_t Key(std::size_t index);
};

// Decodes a batch straight into the buffer of its tensor, or with loader.from_numpy=off into one that is then copied.
// Each worker has a copy of its own.
class ImageBatches : public torch::data::datasets::BatchDataset<ImageBatches, Batch> {
 public:
  ImageBatches(const DataSet& data, Part part, const Settings& settings, std::shared_ptr<Draws> draws);
  Batch get_batch(torch::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override { return data_.size(part_); }

 private:
  void LoadInto(float* out, std::size_t index);

  DataSet data_;
  Part part_;
  int image_size_;
  bool augment_, channels_last_, from_buffer_;
  std::shared_ptr<Draws> draws_;
  Image decoded_;
};

using TrainLoader = torch::data::StatelessDataLoader<ImageBatches, torch::data::samplers::RandomSampler>;
using ValidationLoader = torch::data::StatelessDataLoader<ImageBatches, torch::data::samplers::SequentialSampler>;

std::unique_ptr<TrainLoader> MakeTrainLoader(const ImageBatches& batches, const Settings& settings);
std::unique_ptr<ValidationLoader> MakeValidationLoader(const ImageBatches& batches, const Settings& settings);

}  // namespace loopscope::train_image
