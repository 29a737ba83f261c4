// The loader: batches of decoded, augmented images through LibTorch's DataLoader.
#pragma once

#include <torch/data/datasets/base.h>

#include <memory>
#include <mutex>
#include <vector>

#include "workloads/common/draws.h"
#include "workloads/common/task.h"
#include "workloads/train_image/data_set.h"
#include "workloads/train_image/pictures.h"

namespace loopscope::train::image {

// Decoded pictures that all workers share, each decoded by the first that asks for it.
class ImageCache {
 public:
  explicit ImageCache(std::size_t images) : once_(images), images_(images) {}
  const Image& Get(std::size_t index, const std::string& path) {
    std::call_once(once_[index], [&] { ReadJpeg(path, images_[index]); });
    return images_[index];
  }

 private:
  std::vector<std::once_flag> once_;
  std::vector<Image> images_;
};

// Decodes a batch straight into the buffer of its tensor, or with loader.from_numpy=off into one that is then copied.
// Each worker has a copy of its own.
class ImageBatches : public torch::data::datasets::BatchDataset<ImageBatches, Batch> {
 public:
  ImageBatches(const DataSet& data, Part part, const Settings& settings, std::shared_ptr<Draws> draws);
  Batch get_batch(torch::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override { return data_.size(part_) * repeats_; }

 private:
  template <class Number>
  torch::Tensor Load(torch::ArrayRef<std::size_t> indices, int edge, torch::TensorOptions options);
  torch::Tensor LoadForDevice(torch::ArrayRef<std::size_t> indices, int edge);
  template <class Number>
  void LoadInto(Number* out, std::size_t index, int edge);
  const Image& Decode(std::size_t image);
  int EdgeOf(std::size_t first_index);

  DataSet data_;
  Part part_;
  std::size_t repeats_;  // index modulo the data set's size is the image
  int image_size_;
  bool augment_, varies_, channels_last_, from_buffer_;
  bool on_gpu_, bytes_, pinned_;  // device that the batch is made for
  std::shared_ptr<ImageCache> cache_;
  std::shared_ptr<Draws> draws_;
  Image decoded_;
};

}  // namespace loopscope::train::image
