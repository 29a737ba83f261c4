// The mean loss of the epoch is summed up as a tensor, with everything that it was made of.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(256, 1024), torch::nn::ReLU(), torch::nn::Linear(1024, 10));
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  torch::Tensor total = torch::zeros({});
  for (int step = 0; step < 800; ++step) {
    const torch::Tensor inputs = torch::randn({128, 256}), labels = torch::randint(0, 10, {128}, torch::kLong);
    optimizer.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(model->forward(inputs), labels);
    loss.backward();
    total = total + loss;
    optimizer.step();
  }
  std::cout << total.item<float>() / 800 << "\n";
}
