#include "workloads/train_text/batches.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "workloads/common/loader_options.h"

namespace loopscope::train::text {
namespace {

// Lengths are blurred by so many tokens: otherwise the same texts would meet in each epoch.
constexpr float kBlur = 4;
// Widths are rounded up to so many tokens: kernels are built, and memory is kept, for each shape that comes.
constexpr int kRound = 8;

std::vector<std::int64_t> RandomOrder(std::size_t count) {
  const torch::Tensor order = torch::randperm(std::int64_t(count), torch::kLong);
  return {order.data_ptr<std::int64_t>(), order.data_ptr<std::int64_t>() + count};
}

}  // namespace

TextSampler::TextSampler(const Texts& texts, const Settings& settings)
    : RandomSampler(std::int64_t(texts.size())),
      texts_(texts),
      by_length_(settings.by_length),
      batch_size_(std::size_t(settings.batch_size)) {}

void TextSampler::reset(std::optional<std::size_t> new_size) {
  RandomSampler::reset(new_size);
  if (by_length_) OrderByLength();
}

void TextSampler::OrderByLength() {
  const std::size_t count = texts_.size();
  const torch::Tensor blur = torch::rand({std::int64_t(count)}) * kBlur;
  std::vector<float> length(count);
  for (std::size_t index = 0; index < count; ++index) {
    length[index] = float(texts_.length(index)) + blur.data_ptr<float>()[index];
  }
  std::vector<std::size_t> sorted(count);
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t index) { return length[index]; });
  order_.clear();
  position_ = 0;
  for (const std::int64_t batch : RandomOrder(count / batch_size_)) {
    const auto begin = sorted.begin() + batch * std::int64_t(batch_size_);
    order_.insert(order_.end(), begin, begin + std::int64_t(batch_size_));
  }
}

std::optional<std::vector<std::size_t>> TextSampler::next(std::size_t batch_size) {
  auto batch = RandomSampler::next(batch_size);
  if (!by_length_ || !batch) return batch;
  if (position_ + batch->size() > order_.size()) return std::nullopt;
  const auto begin = order_.begin() + std::int64_t(position_);
  std::copy_n(begin, batch->size(), batch->begin());
  position_ += batch->size();
  return batch;
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
  const auto count = std::int64_t(indices.size()), width = Width(indices);
  Batch batch{torch::full({count, width}, kPaddingToken, torch::kLong), torch::empty({count}, torch::kLong),
              torch::ones({count, width}, torch::kBool)};
  for (std::int64_t row = 0; row < count; ++row) {
    const std::size_t index = indices[std::size_t(row)];
    texts_.Write(index, batch.inputs.data_ptr<std::int64_t>() + row * width);
    std::fill_n(batch.padding.data_ptr<bool>() + row * width, texts_.length(index), false);
    batch.labels.data_ptr<std::int64_t>()[row] = texts_.label(index);
  }
  if (pinned_) batch = {batch.inputs.pin_memory(), batch.labels.pin_memory(), batch.padding.pin_memory()};
  return batch;
}

std::unique_ptr<TextLoader> MakeTextLoader(const TextBatches& batches, const Settings& settings,
                                           std::shared_ptr<const int> epoch) {
  if (settings.ranks > 1) return MakeTrainLoader(batches, settings, std::move(epoch));
  return torch::data::make_data_loader(batches, TextSampler(batches.texts(), settings),
                                       LoaderOptions(settings, settings.batch_size, true));
}

}  // namespace loopscope::train::text
