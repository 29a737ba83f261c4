// The loader: padded batches of texts through LibTorch's DataLoader.
#pragma once

#include <torch/data/datasets/base.h>
#include <torch/data/samplers/random.h>
#include <torch/types.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/common/ranks/rank_sampler.h"
#include "workloads/common/task.h"
#include "workloads/train_text/texts.h"

namespace loopscope::train::text {

// Batches of texts of similar length, in random order, in place of a sampler's own draws. Ranks that share the texts
// draw the same order, by the epoch's number, and in each step get texts of similar length, so that none waits for
// another.
class LengthOrder {
 public:
  // `epoch`: null where each rank draws for itself.
  LengthOrder(const Texts& texts, const Settings& settings, std::shared_ptr<const int> epoch);

  void Shuffle();
  // The indices of the next batch, in place of as many drawn ones; none once there are too few.
  std::optional<std::vector<std::size_t>> Next(std::optional<std::vector<std::size_t>> drawn);

 private:
  std::vector<std::size_t> ByLength(std::optional<torch::Generator> generator) const;

  Texts texts_;
  std::size_t batch_size_, ranks_, rank_;
  std::shared_ptr<const int> epoch_;
  std::vector<std::size_t> order_;  // whole batches, one after the other
  std::size_t position_ = 0;
};

// LibTorch's sampler of random order or of a share, with the texts that `order` names.
template <class Random>
class LengthSampler : public Random {
 public:
  LengthSampler(Random random, LengthOrder order) : Random(std::move(random)), order_(std::move(order)) {}

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    Random::reset(new_size);
    order_.Shuffle();
  }
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    return order_.Next(Random::next(batch_size));
  }

 private:
  LengthOrder order_;
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

// With several ranks, each takes its share.
std::unique_ptr<TextLoader> MakeTextLoader(const TextBatches& batches, const Settings& settings,
                                           std::shared_ptr<const int> epoch);

}  // namespace loopscope::train::text
