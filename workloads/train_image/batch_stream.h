// One pass over a DataLoader, batch by batch, with the wait for each inside an NVTX range.
#pragma once

#include <optional>
#include <utility>

#include "workloads/train_image/loader.h"
#include "workloads/train_image/ranges.h"

namespace loopscope::train_image {

template <class Loader>
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

}  // namespace loopscope::train_image
