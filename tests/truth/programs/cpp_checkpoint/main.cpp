// A regression network; every eighth step prints its loss and writes a checkpoint.
#include <torch/torch.h>

#include <cstdio>

struct Net : torch::nn::Module {
  Net() {
    first = register_module("first", torch::nn::Linear(64, 1024));
    second = register_module("second", torch::nn::Linear(1024, 1024));
    last = register_module("last", torch::nn::Linear(1024, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return last(torch::relu(second(torch::relu(first(x)))));
  }
  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
};

int main() {
  torch::manual_seed(0);
  auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int step = 0; step < 400; ++step) {
    auto x = torch::randn({16, 64});
    auto loss = (net->forward(x) - x.sum(1, true)).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 8 == 7) {
      std::printf("step %d loss %.3f\n", step + 1, loss.item<float>());
      std::fflush(stdout);
      torch::save(net, "checkpoint.pt");
    }
  }
}
