// A loss whose forward and backward passes are two recorded graphs once batches have kept their shapes for a while.
// Both stay apart, as they are in any loop: the caller runs backward and its optimizer as usual.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

#include <functional>
#include <vector>

#include "workloads/common/device_module.h"
#include "workloads/common/task.h"

namespace loopscope::train {

class GraphedLoss {
 public:
  using Loss = std::function<torch::Tensor(const Batch&)>;

  // Batches of the same shapes before the passes are recorded: libraries choose algorithms and workspaces in them.
  static constexpr int kSteadyBatches = 3;

  // `loss` must read nothing back to the host and draw nothing random there; `make` makes a graph (device_module.h).
  GraphedLoss(Loss loss, std::vector<torch::Tensor> parameters, MakeDeviceGraph make);
  ~GraphedLoss();

  // A batch of other shapes than those recorded is computed call by call. Throws std::runtime_error where the passes
  // cannot be recorded.
  torch::Tensor operator()(const Batch& batch);

 private:
  struct Recorded;
  class Passes;

  bool Steady(const Batch& batch);
  c10::intrusive_ptr<Recorded> Record(const Batch& batch) const;

  Loss loss_;
  std::vector<torch::Tensor> parameters_;
  MakeDeviceGraph make_;
  Batch last_;
  int alike_ = 0;  // batches in a row of the shapes of `last_`
  c10::intrusive_ptr<Recorded> recorded_;
};

}  // namespace loopscope::train
