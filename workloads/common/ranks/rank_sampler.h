// Loaders that go through all samples, or through a rank's share of them.
#pragma once

#include <torch/data/dataloader.h>
#include <torch/data/samplers/distributed.h>
#include <torch/data/samplers/random.h>
#include <torch/data/samplers/sequential.h>

#include <memory>
#include <optional>
#include <vector>

#include "workloads/common/loader_options.h"

namespace loopscope::train {

// A loader with any sampler.
template <class Batches>
using Loader = torch::data::DataLoaderBase<Batches, typename Batches::BatchType, std::vector<std::size_t>>;

// A rank's share, shuffled by the epoch's number, which the task counts: the same order on all ranks. The last shares
// are filled up to equal length.
class ShuffledShare : public torch::data::samplers::DistributedRandomSampler {
 public:
  ShuffledShare(std::size_t samples, const CommonSettings& settings, std::shared_ptr<const int> epoch)
      : DistributedRandomSampler(samples, static_cast<std::size_t>(settings.ranks),
                                 static_cast<std::size_t>(settings.rank)),
        of_task_(std::move(epoch)) {}

  void reset(std::optional<std::size_t> size = std::nullopt) override {
    set_epoch(static_cast<std::size_t>(*of_task_));
    DistributedRandomSampler::reset(size);
  }

 private:
  std::shared_ptr<const int> of_task_;
};

// Shuffled batches of equal size: of a share with sampler.distributed=on, else of all `samples`.
template <class Batches>
std::unique_ptr<Loader<Batches>> MakeTrainLoader(const Batches& batches, const CommonSettings& settings,
                                                 std::shared_ptr<const int> epoch) {
  const auto options = LoaderOptions(settings, settings.batch_size, /*drop_last=*/true);
  if (settings.ranks == 1 || !settings.distributed_sampler) {
    return torch::data::make_data_loader<torch::data::samplers::RandomSampler>(batches, options);
  }
  return torch::data::make_data_loader(batches, ShuffledShare(*batches.size(), settings, std::move(epoch)), options);
}

// All batches in order; with several ranks, each evaluates a share.
template <class Batches>
std::unique_ptr<Loader<Batches>> MakeValidationLoader(const Batches& batches, const CommonSettings& settings) {
  using namespace torch::data::samplers;
  const auto options = LoaderOptions(settings, settings.batch_size, /*drop_last=*/false);
  if (settings.ranks == 1) return torch::data::make_data_loader<SequentialSampler>(batches, options);
  DistributedSequentialSampler share(*batches.size(), static_cast<std::size_t>(settings.ranks),
                                     static_cast<std::size_t>(settings.rank));
  return torch::data::make_data_loader(batches, std::move(share), options);
}

}  // namespace loopscope::train
