#include "workloads/train_image/image_task.h"

#include "workloads/common/loader_options.h"
#include "workloads/train_image/augment.h"

namespace loopscope::train::image {

ImageTask::ImageTask(const Settings& settings, const DataSet& data)
    : settings_(settings),
      draws_(MakeDraws(settings.seed)),
      train_batches_(data, Part::kTrain, settings, draws_),
      train_(MakeTrainLoader(train_batches_, settings, epoch_)),
      validation_(MakeValidationLoader(ImageBatches(data, Part::kValidation, settings, draws_), settings)),
      model_(settings) {
  if (settings.data_parallel) replicas_.emplace();
}

void ImageTask::StartEpoch(int epoch) {
  draws_->epoch = static_cast<std::uint64_t>(epoch);
  *epoch_ = epoch;
  const bool first = !train_pass_ && !validation_pass_;
  train_pass_.reset(), validation_pass_.reset();
  if (!settings_.persistent && !first) train_ = MakeTrainLoader(train_batches_, settings_, epoch_);
  train_pass_.emplace(*train_);
}

void ImageTask::StartEvaluation() {
  train_pass_.reset();
  validation_pass_.emplace(*validation_);
}

std::optional<Batch> ImageTask::Next() {
  return train_pass_ ? train_pass_->Next() : validation_pass_->Next();
}

// Normalises batches of bytes. With loader.from_numpy=off the loader has already copied the batch; it is copied again,
// and once more to the dtype and device that it already has.
torch::Tensor ImageTask::Images(const Batch& batch) const {
  torch::Tensor images = batch.inputs;
  if (!settings_.from_numpy) {
    const torch::Tensor copy = images.clone();
    images = copy.to(copy.device(), copy.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  }
  if (images.scalar_type() == torch::kByte) images = images.to(torch::kFloat).sub_(kMean).div_(kDeviation);
  return settings_.noise && model_->is_training() ? images + Noise(images) : images;
}

torch::Tensor ImageTask::Noise(const torch::Tensor& images) const {
  constexpr double kNoise = 0.05;  // of the images' deviation
  const auto device = settings_.on_device ? images.device() : torch::Device(torch::kCPU);
  const torch::Tensor noise = torch::randn(images.sizes(), torch::TensorOptions(device).dtype(torch::kFloat));
  return noise.to(images.device()) * kNoise;
}

torch::Tensor ImageTask::Scores(const Batch& batch) {
  const torch::Tensor images = Images(batch);
  return replicas_ ? (*replicas_)(model_.ptr(), images) : model_(images);
}

InEffect ImageTask::ReadBack() const {
  const auto on = [](bool value) { return std::string(value ? "on" : "off"); };
  InEffect in_effect = ReadLoaderBack(train_->options());
  in_effect["bias.before_norm"] = on(settings_.norm == "batch" && model_->has_bias_before_norm());
  in_effect["channels_last"] = on(model_->is_channels_last());
  return in_effect;
}

}  // namespace loopscope::train::image
