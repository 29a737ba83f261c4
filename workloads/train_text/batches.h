// The loader: padded batches of texts through LibTorch's DataLoader.
#pragma once

#include <torch/data/datasets/base.h>
#include <torch/data/samplers/random.h>

#include <memory>
#include <vector>

#include "workloads/common/rank_sampler.h"
#include "workloads/common/task.h"
#include "workloads/train_text/texts.h"

namespace loopscope::train::text {

// Random order, or with batch.by_length batches of texts of about one length, in random order.
class TextSampler : public torch::data::samplers::RandomSampler {
 public:
  TextSampler(const Texts& texts, const Settings& settings);

  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;

 private:
  void OrderByLength();

  Texts texts_;
  bool by_length_;
  std::size_t batch_size_;
  std::vector<std::size_t> order_;  // whole batches, one after the other
  std::size_t position_ = 0;
};

class TextBatches : public torch::data::datasets::BatchDataset<TextBatches, Batch> {
 public:
  TextBatches(const Texts& texts, const Settings& settings);

  Batch get_batch(torch::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override { return texts_.size(); }
  const Texts& texts() const { return texts_; }

 private:
  std::int64_t Width(torch::ArrayRef<std::size_t> indices) const;

  Texts texts_;
  int max_len_;
  bool pad_to_max_, pinned_;
};

using TextLoader = Loader<TextBatches>;

// Of several ranks each takes its share, in random order; batches of about one length are for one rank.
std::unique_ptr<TextLoader> MakeTextLoader(const TextBatches& batches, const Settings& settings,
                                           std::shared_ptr<const int> epoch);

}  // namespace loopscope::train::text
