// Each sample is drawn and blurred when it is asked for, on the training thread.
#include <torch/torch.h>

#include <cmath>
#include <vector>

struct Waves : torch::data::datasets::Dataset<Waves> {
  torch::data::Example<> get(std::size_t index) override {
    std::vector<float> values(64 * 64);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(0.001f * static_cast<float>(index * k));
    torch::Tensor wave = torch::from_blob(values.data(), {1, 64, 64}).clone();
    for (int shift = 0; shift < 8; ++shift) wave = torch::roll(wave, {shift}, {1}) * 0.9 + 0.1 * wave;
    return {wave, torch::tensor(static_cast<std::int64_t>(index % 10))};
  }
  torch::optional<std::size_t> size() const override { return 6400; }
};

int main() {
  torch::manual_seed(0);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Waves().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(32));
  torch::nn::Sequential model(torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).stride(2)), torch::nn::ReLU(),
                              torch::nn::Flatten(), torch::nn::Linear(8 * 31 * 31, 10));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(model->forward(batch.data), batch.target).backward();
      optimizer.step();
    }
  }
}
