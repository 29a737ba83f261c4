// A policy that is improved on what it does itself: before every sixteenth update it acts for 128 turns.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

struct Policy : torch::nn::Module {
  Policy() {
    hidden = register_module("hidden", torch::nn::Linear(16, 64));
    action = register_module("action", torch::nn::Linear(64, 4));
  }
  torch::Tensor forward(const torch::Tensor& state) {
    return action(torch::tanh(hidden(state)));
  }
  torch::nn::Linear hidden{nullptr}, action{nullptr};
};

std::vector<torch::Tensor> rollout(Policy& policy) {
  torch::NoGradGuard guard;
  std::vector<torch::Tensor> states;
  auto state = torch::zeros({1, 16});
  for (int turn = 0; turn < 128; ++turn) {
    auto chosen = torch::softmax(policy.forward(state), 1).multinomial(1);
    state = state.roll(1, 1) + 0.01 * chosen;
    states.push_back(state.clone());
  }
  return states;
}

int main() {
  torch::manual_seed(0);
  auto policy = std::make_shared<Policy>();
  torch::optim::Adam optimizer(policy->parameters(), 1e-3);
  std::vector<torch::Tensor> states;
  for (int step = 0; step < 1600; ++step) {
    if (step % 16 == 0) states = rollout(*policy);
    auto batch = torch::cat(states).slice(0, (step % 16) * 8, (step % 16) * 8 + 8);
    auto loss = policy->forward(batch).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 400 == 399) std::printf("step %d loss %.3f\n", step + 1, loss.item<float>());
  }
}
