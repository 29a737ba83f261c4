// Training that sleeps at known lines.
#include <torch/torch.h>

#include <chrono>
#include <thread>

using namespace std::chrono_literals;
using std::this_thread::sleep_for;

namespace {

void Log() {
  sleep_for(4ms);  // step: 4 ms
}

}  // namespace

int main() {
  torch::manual_seed(0);
  torch::nn::Linear model(8, 2);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  const torch::Tensor inputs = torch::rand({16, 8}), labels = torch::zeros({16}, torch::kLong);
  for (int step = 0; step < 80; ++step) {
    optimizer.zero_grad();
    const torch::Tensor outputs = model->forward(inputs);
    sleep_for(8ms);  // step: 8 ms
    const torch::Tensor loss = torch::nn::functional::cross_entropy(outputs, labels);
    sleep_for(12ms);  // step: 12 ms
    loss.backward();
    optimizer.step();
    Log();
  }
}
