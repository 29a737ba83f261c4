// Passes over a DataLoader, batch by batch, with the wait for each inside an NVTX range.
#pragma once

#include <torch/data/iterator.h>

#include <optional>
#include <utility>

#include "workloads/common/ranges.h"

namespace loopscope::train {

template <class Loader, class Batch>
class BatchStream {
 public:
  explicit BatchStream(Loader& loader) : batch_(loader.begin()), end_(loader.end()) {}

  // The next batch; none at the end of the pass.
  std::optional<Batch> Next() {
    const PhaseRange range("data");
    if (started_) ++batch_;
    started_ = true;
    if (batch_ == end_) return std::nullopt;
    return std::move(*batch_);
  }

 private:
  torch::data::Iterator<Batch> batch_, end_;
  bool started_ = false;
};

}  // namespace loopscope::train
