#include "workloads/train_text/batches.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include <algorithm>
#include <utility>

#include "workloads/common/loader_options.h"

namespace loopscope::train::text {
namespace {

// Lengths are blurred by up to this many tokens: otherwise the same texts would share a batch in each epoch.
constexpr float kBlur = 4;
// Widths are rounded up to a multiple of this: kernels are built, and memory is kept, for each shape that occurs.
constexpr int kRound = 8;

std::vector<std::size_t> RandomOrder(std::size_t count, std::optional<torch::Generator> generator) {
  const torch::Tensor order = torch::randperm(static_cast<std::int64_t>(count), std::move(generator), torch::kLong);
  return {order.data_ptr<std::int64_t>(), order.data_ptr<std::int64_t>() + count};
}

}  // namespace

LengthOrder::LengthOrder(const Texts& texts, const Settings& settings, std::shared_ptr<const int> epoch)
    : texts_(texts),
      batch_size_(static_cast<std::size_t>(settings.batch_size)),
      ranks_(epoch ? static_cast<std::size_t>(settings.ranks) : 1),
      rank_(epoch ? static_cast<std::size_t>(settings.rank) : 0),
      epoch_(std::move(epoch)) {}

// The texts by length, some twice if ranks cannot share them evenly.
std::vector<std::size_t> LengthOrder::ByLength(std::optional<torch::Generator> generator) const {
  const std::size_t count = texts_.size();
  const torch::Tensor blur = torch::rand({static_cast<std::int64_t>(count)}, std::move(generator)) * kBlur;
  std::vector<float> length(count);
  for (std::size_t index = 0; index < count; ++index) {
    length[index] = static_cast<float>(texts_.length(index)) + blur.data_ptr<float>()[index];
  }
  std::vector<std::size_t> sorted((count + ranks_ - 1) / ranks_ * ranks_);
  for (std::size_t at = 0; at < sorted.size(); ++at) sorted[at] = at % count;
  std::ranges::sort(sorted, {}, [&](std::size_t index) { return length[index]; });
  return sorted;
}

void LengthOrder::Shuffle() {
  std::optional<torch::Generator> generator;
  if (epoch_) generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(*epoch_));
  const std::vector<std::size_t> sorted = ByLength(generator);
  const std::size_t step = batch_size_ * ranks_, steps = sorted.size() / step;
  // Texts that do not fill a step are left out at either end, so that they are not always the longest.
  const std::size_t skipped = RandomOrder(sorted.size() - steps * step + 1, generator).front();
  order_.clear();
  position_ = 0;
  for (const std::size_t one : RandomOrder(steps, generator)) {
    for (std::size_t row = 0; row < batch_size_; ++row) {
      order_.push_back(sorted[skipped + one * step + row * ranks_ + rank_]);
    }
  }
}

std::optional<std::vector<std::size_t>> LengthOrder::Next(std::optional<std::vector<std::size_t>> drawn) {
  if (!drawn || position_ + drawn->size() > order_.size()) return std::nullopt;
  std::ranges::copy_n(order_.begin() + static_cast<std::int64_t>(position_), drawn->size(), drawn->begin());
  position_ += drawn->size();
  return drawn;
}

TextBatches::TextBatches(const Texts& texts, const Settings& settings)
    : texts_(texts),
      max_len_(settings.max_len),
      pad_to_max_(settings.pad == "max_len"),
      pinned_(settings.device == "cuda" && settings.pin_memory) {}

std::int64_t TextBatches::Width(torch::ArrayRef<std::size_t> indices) const {
  int longest = pad_to_max_ ? max_len_ : 0;
  for (const std::size_t index : indices) longest = std::max(longest, texts_.length(index));
  return std::min((longest + kRound - 1) / kRound * kRound, std::max(longest, max_len_));
}

Batch TextBatches::get_batch(torch::ArrayRef<std::size_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size()), width = Width(indices);
  Batch batch{torch::full({count, width}, kPaddingToken, torch::kLong), torch::empty({count}, torch::kLong),
              torch::ones({count, width}, torch::kBool)};
  for (std::int64_t row = 0; row < count; ++row) {
    const std::size_t index = indices[static_cast<std::size_t>(row)];
    texts_.Write(index, batch.inputs.data_ptr<std::int64_t>() + row * width);
    std::fill_n(batch.padding.data_ptr<bool>() + row * width, texts_.length(index), false);
    batch.labels.data_ptr<std::int64_t>()[row] = texts_.label(index);
  }
  if (pinned_) batch = {batch.inputs.pin_memory(), batch.labels.pin_memory(), batch.padding.pin_memory()};
  return batch;
}

std::unique_ptr<TextLoader> MakeTextLoader(const TextBatches& batches, const Settings& settings,
                                           std::shared_ptr<const int> epoch) {
  if (!settings.by_length) return MakeTrainLoader(batches, settings, std::move(epoch));
  const auto options = LoaderOptions(settings, settings.batch_size, /*drop_last=*/true);
  const bool shared = settings.ranks > 1 && settings.distributed_sampler;
  const LengthOrder order(batches.texts(), settings, shared ? epoch : nullptr);
  if (shared) {
    ShuffledShare share(batches.texts().size(), settings, std::move(epoch));
    return torch::data::make_data_loader(batches, LengthSampler(std::move(share), order), options);
  }
  torch::data::samplers::RandomSampler random(static_cast<std::int64_t>(batches.texts().size()));
  return torch::data::make_data_loader(batches, LengthSampler(std::move(random), order), options);
}

}  // namespace loopscope::train::text
