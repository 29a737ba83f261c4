// The loader: batches of decoded, augmented images through LibTorch's DataLoader.
#pragma once

#include <torch/data/datasets/base.h>

#include <memory>
#include <vector>

#include "workloads/common/draws.h"
#include "workloads/common/task.h"
#include "workloads/train_image/data_set.h"
#include "workloads/train_image/jpeg.h"

namespace loopscope::train::image {

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

}  // namespace loopscope::train::image
