// Options of LibTorch's DataLoader, the same in every program.
#pragma once

#include <torch/data/dataloader_options.h>

#include <string>

#include "workloads/common/knobs/knobs.h"
#include "workloads/common/settings.h"

namespace loopscope::train {

inline torch::data::DataLoaderOptions LoaderOptions(const CommonSettings& settings, int batch_size, bool drop_last) {
  torch::data::DataLoaderOptions options{static_cast<std::size_t>(batch_size)};
  options.workers(static_cast<std::size_t>(settings.workers)).drop_last(drop_last);
  if (settings.workers > 0)
    options.max_jobs(static_cast<std::size_t>(settings.workers) * static_cast<std::size_t>(settings.prefetch));
  return options;
}

// The knobs of a loader, as it was built.
template <class Options>
InEffect ReadLoaderBack(const Options& loader) {
  InEffect in_effect{{"loader.workers", std::to_string(loader.workers)},
                     {"batch.size", std::to_string(loader.batch_size)}};
  if (loader.workers > 0) in_effect["loader.prefetch"] = std::to_string(loader.max_jobs / loader.workers);
  return in_effect;
}

}  // namespace loopscope::train
