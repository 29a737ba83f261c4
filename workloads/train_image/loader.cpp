#include "workloads/train_image/loader.h"

#include <torch/types.h>

#include "workloads/train_image/augment.h"

namespace loopscope::train::image {

ImageBatches::ImageBatches(const DataSet& data, Part part, const Settings& settings, std::shared_ptr<Draws> draws)
    : data_(data),
      part_(part),
      image_size_(settings.image_size),
      augment_(settings.augment && part == Part::kTrain),
      channels_last_(settings.channels_last),
      from_buffer_(settings.from_numpy),
      draws_(std::move(draws)) {}

Batch ImageBatches::get_batch(torch::ArrayRef<std::size_t> indices) {
  const auto count = std::int64_t(indices.size());
  const auto format = channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const auto options = torch::TensorOptions().dtype(torch::kFloat).memory_format(format);
  Batch batch{torch::empty({count, 3, image_size_, image_size_}, options), torch::empty({count}, torch::kLong), {}};
  float* image = batch.inputs.data_ptr<float>();
  auto* label = batch.labels.data_ptr<std::int64_t>();
  for (const std::size_t index : indices) {
    LoadInto(image, index);
    *label++ = data_.label(index);
    image += std::size_t(3) * std::size_t(image_size_) * std::size_t(image_size_);
  }
  if (!from_buffer_) batch.inputs = batch.inputs.clone();
  return batch;
}

void ImageBatches::LoadInto(float* out, std::size_t index) {
  ReadJpeg(data_.path(part_, index), decoded_);
  Crop crop = MiddleCrop(decoded_);
  if (augment_) {
    Random random(draws_->Key(index));
    crop = RandomCrop(decoded_, random);
  }
  Resample(decoded_, crop, image_size_, channels_last_, out);
}

}  // namespace loopscope::train::image
