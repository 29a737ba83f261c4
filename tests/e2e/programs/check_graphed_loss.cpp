// Trains a small network by recorded graphs and call by call, for a test. The graphs are a stand-in that runs what was
// recorded again, and leaves gradients where the first run left them, as a real graph does.
#include <fmt/format.h>
#include <torch/nn/functional/loss.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/common/graphed_loss.h"

using loopscope::train::Batch;
using loopscope::train::DeviceGraph;
using loopscope::train::GraphedLoss;

namespace {

int recorded = 0, launched = 0, called = 0;

class Again : public DeviceGraph {
 public:
  void Record(const Work& work) override {
    ++recorded;
    work_ = work;
    first_ = Run();
  }

  void Launch() override {
    ++launched;
    const std::vector<at::Tensor> results = Run();
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined() || results[i].requires_grad()) continue;
      first_[i].copy_(results[i]);
      results[i].set_(first_[i]);
    }
  }

 private:
  // With gradients enabled, as during recording, whatever the caller's mode.
  std::vector<at::Tensor> Run() const {
    const torch::AutoGradMode grad(true);
    return work_();
  }

  Work work_;
  std::vector<at::Tensor> first_;
};

DeviceGraph* MakeAgain(DeviceGraph*) {
  return new Again;
}

DeviceGraph* MakeFailing(DeviceGraph*) {
  class Failing : public Again {
    void Record(const Work&) override { TORCH_CHECK(false, "operation not permitted\nmore of it"); }
  };
  return new Failing;
}

struct Network {
  torch::Tensor in = torch::randn({6, 5}).requires_grad_(), out = torch::randn({5, 3}).requires_grad_();
  torch::Tensor unused = torch::randn({2}).requires_grad_();

  torch::Tensor Loss(const Batch& batch) const {
    ++called;
    return torch::nn::functional::cross_entropy(batch.inputs.mm(in).tanh().mm(out), batch.labels);
  }
};

// The losses of ten steps of `accumulate` batches each; the one at `odd` has fewer samples.
void Train(bool graphs, bool set_to_none, int accumulate, int odd, decltype(&MakeAgain) make) {
  torch::manual_seed(5);
  Network network;
  const std::vector<torch::Tensor> parameters = {network.in, network.out, network.unused};
  const auto plain = [&](const Batch& batch) { return network.Loss(batch); };
  GraphedLoss graphed(plain, parameters, make);
  recorded = launched = called = 0;
  for (int step = 0; step < 10; ++step) {
    for (int part = 0; part < accumulate; ++part) {
      const int rows = step == odd ? 3 : 4;
      const Batch batch{torch::randn({rows, 6}), torch::randint(3, {rows}, torch::kLong), {}};
      const torch::Tensor loss = graphs ? graphed(batch) : network.Loss(batch);
      if (part == 0) {
        for (const torch::Tensor& one : parameters) {
          if (set_to_none) one.mutable_grad().reset();
          if (one.grad().defined()) one.mutable_grad().zero_();
        }
      }
      (loss / accumulate).backward();
      fmt::print("{:.9g} ", loss.item<double>());
    }
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& one : parameters) {
      if (one.grad().defined()) one.sub_(0.1 * one.grad());
    }
  }
  fmt::print("\n{} {} {}\n", recorded, launched, called);
}

}  // namespace

// check_graphed_loss <graphs 0|1> <set_to_none 0|1> <accumulate> <odd step> [failing]
int main(int argc, char** argv) {
  const bool failing = argc > 5 && std::string_view(argv[5]) == "failing";
  try {
    Train(argv[1][0] == '1', argv[2][0] == '1', std::stoi(argv[3]), std::stoi(argv[4]),
          failing ? MakeFailing : MakeAgain);
  } catch (const std::exception& error) {
    fmt::print("\n{}\n", error.what());
  }
}
