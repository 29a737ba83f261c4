#include "workloads/train_image/loader.h"

#include <torch/types.h>

#include "workloads/train_image/augment.h"

namespace loopscope::train::image {

ImageBatches::ImageBatches(const DataSet& data, Part part, const Settings& settings, std::shared_ptr<Draws> draws)
    : data_(data),
      part_(part),
      repeats_(part == Part::kTrain ? static_cast<std::size_t>(settings.repeats) : 1),
      image_size_(settings.image_size),
      augment_(settings.augment && part == Part::kTrain),
      varies_(settings.image_size_varies && part == Part::kTrain),
      channels_last_(settings.channels_last),
      from_buffer_(settings.from_numpy),
      on_gpu_(settings.device == "cuda"),
      bytes_(settings.copy_uint8),
      pinned_(on_gpu_ && settings.pin_memory),
      cache_(settings.cache_images ? std::make_shared<ImageCache>(data.size(part)) : nullptr),
      draws_(std::move(draws)) {}

Batch ImageBatches::get_batch(torch::ArrayRef<std::size_t> indices) {
  const int edge = EdgeOf(indices.front());
  const auto labels = torch::TensorOptions().dtype(torch::kLong).pinned_memory(pinned_);
  Batch batch{on_gpu_ ? LoadForDevice(indices, edge) : Load<float>(indices, edge, torch::kFloat),
              torch::empty({static_cast<std::int64_t>(indices.size())}, labels),
              {}};
  auto* label = batch.labels.data_ptr<std::int64_t>();
  for (const std::size_t index : indices) *label++ = data_.label(index % data_.size(part_));
  if (!from_buffer_) batch.inputs = batch.inputs.clone();
  return batch;
}

// Pictures are bytes: they are widened on the GPU with copy.uint8, else here, as in programs that get them from a
// library.
torch::Tensor ImageBatches::LoadForDevice(torch::ArrayRef<std::size_t> indices, int edge) {
  const torch::TensorOptions pinned = torch::TensorOptions().pinned_memory(pinned_);
  if (bytes_) return Load<std::uint8_t>(indices, edge, pinned.dtype(torch::kByte));
  const torch::Tensor bytes = Load<std::uint8_t>(indices, edge, torch::kByte);
  torch::Tensor wide = torch::empty_like(bytes, pinned.dtype(torch::kFloat));
  return wide.copy_(bytes).sub_(kMean).div_(kDeviation);
}

template <class Number>
torch::Tensor ImageBatches::Load(torch::ArrayRef<std::size_t> indices, int edge, torch::TensorOptions options) {
  const auto format = channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  torch::Tensor images =
      torch::empty({static_cast<std::int64_t>(indices.size()), 3, edge, edge}, options.memory_format(format));
  Number* image = images.data_ptr<Number>();
  for (const std::size_t index : indices) {
    LoadInto(image, index, edge);
    image += std::size_t{3} * static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge);
  }
  return images;
}

template <class Number>
void ImageBatches::LoadInto(Number* out, std::size_t index, int edge) {
  const Image& image = Decode(index % data_.size(part_));
  Crop crop = MiddleCrop(image);
  if (augment_) {
    Random random(draws_->Key(index));
    crop = RandomCrop(image, random);
  }
  Resample(image, crop, edge, channels_last_, out);
}

const Image& ImageBatches::Decode(std::size_t image) {
  const std::string path = data_.path(part_, image);
  if (cache_) return cache_->Get(image, path);
  ReadJpeg(path, decoded_);
  return decoded_;
}

int ImageBatches::EdgeOf(std::size_t first_index) {
  if (!varies_) return image_size_;
  Random random(draws_->Key(first_index));
  return static_cast<int>(random.Uniform(image_size_ * 2 / 3, image_size_ * 4 / 3 + 1));
}

}  // namespace loopscope::train::image
