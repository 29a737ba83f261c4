// Nothing to mend: digits with a convolutional network, in LibTorch.
#include <torch/torch.h>

#include <cstdio>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 32, 5)));
    second = register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 64, 5)));
    hidden = register_module("hidden", torch::nn::Linear(64 * 4 * 4, 128));
    out = register_module("out", torch::nn::Linear(128, 10));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(first->forward(x), 2));
    x = torch::relu(torch::max_pool2d(second->forward(x), 2));
    return out->forward(torch::relu(hidden->forward(x.flatten(1))));
  }

  torch::nn::Conv2d first{nullptr}, second{nullptr};
  torch::nn::Linear hidden{nullptr}, out{nullptr};
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(0);
  torch::Tensor images = torch::rand({2048, 1, 28, 28});
  torch::Tensor labels = torch::randint(0, 10, {2048}, torch::kLong);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  for (int step = 0; step < 150; ++step) {
    torch::Tensor rows = torch::randint(0, 2048, {64}, torch::kLong);
    torch::Tensor output = net->forward(images.index_select(0, rows));
    torch::Tensor loss = torch::cross_entropy_loss(output, labels.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 50 == 49) {
      std::printf("step %d loss %.3f\n", step + 1, loss.item<float>());
      std::fflush(stdout);
    }
  }
}
