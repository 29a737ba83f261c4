// Fraud scores in LibTorch. The threshold for the log is a quantile of all scores so far, which are sorted for it.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <vector>

float Quantile(std::vector<float> scores, double q) {
  std::ranges::sort(scores);
  return scores[static_cast<size_t>(q * static_cast<double>(scores.size() - 1))];
}

int main() {
  torch::manual_seed(0);
  torch::Tensor payments = torch::randn({20000, 32});
  torch::Tensor fraud = (payments.select(1, 0) + torch::randn({20000}) > 2).to(torch::kFloat);
  torch::nn::Sequential net(torch::nn::Linear(32, 128), torch::nn::ReLU(), torch::nn::Linear(128, 1));
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  std::vector<float> seen(60000, 0.5F);
  for (int step = 0; step < 250; ++step) {
    torch::Tensor rows = torch::randint(0, 20000, {256}, torch::kLong);
    torch::Tensor logits = net->forward(payments.index_select(0, rows)).squeeze(1);
    torch::Tensor loss = torch::binary_cross_entropy_with_logits(logits, fraud.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::Tensor scores = logits.detach().sigmoid().contiguous();
    seen.insert(seen.end(), scores.data_ptr<float>(), scores.data_ptr<float>() + scores.numel());
    const float threshold = Quantile(seen, 0.99);
    if (step % 50 == 49) {
      std::printf("step %d loss %.3f threshold %.3f\n", step + 1, loss.item<float>(), threshold);
      std::fflush(stdout);
    }
  }
}
