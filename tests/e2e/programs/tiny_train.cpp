// A small training program for the tests of the probes: a convolution net with batch norm on random images, SGD,
// an evaluation per epoch. Knows nothing of Loopscope.
//   tiny_train [--epochs N] [--samples N] [--batch N] [--workers N] [--item] [--anomaly] [--accumulate N]
//              [--two-optimizers] [--adamw] [--no-optimizer-step] [--no-loader] [--throw] [--fork] [--child] [--losses]
//              [--nvtx] [--shallow] [--sleep MICROSECONDS] [--spin MICROSECONDS] [--clone]
//              [--draw] [--times] [--exit-at STEP] [--score] [--save]
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <time.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/data.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>
#include <torch/optim.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Images : torch::data::datasets::Dataset<Images> {
  explicit Images(std::size_t count) : count_(count) {
    torch::manual_seed(1);
    data_ = torch::randn({static_cast<long>(count), 3, 16, 16});
    targets_ = torch::randint(0, 10, {static_cast<long>(count)}, torch::kLong);
  }
  torch::data::Example<> get(std::size_t index) override {
    return {data_[static_cast<long>(index)].mul(0.5).add(0.1), targets_[static_cast<long>(index)]};
  }
  torch::optional<std::size_t> size() const override { return count_; }

  std::size_t count_;
  torch::Tensor data_, targets_;
};

// A shallow one has few graph nodes: anomaly mode's cost is a back trace of C++ for each.
torch::nn::Sequential Net(bool shallow) {
  using namespace torch::nn;
  if (shallow) return Sequential(Flatten(), Linear(3 * 16 * 16, 10));
  return Sequential(Conv2d(Conv2dOptions(3, 8, 3).padding(1)), BatchNorm2d(8), ReLU(), AdaptiveAvgPool2d(1), Flatten(),
                    Linear(8, 10));
}

using Options = std::map<std::string, long>;

Options Parse(int count, char** arguments) {
  Options options;
  for (int n = 1; n < count; ++n) {
    const bool has_value = n + 1 < count && std::strncmp(arguments[n + 1], "--", 2) != 0;
    options[arguments[n] + 2] = has_value ? std::atol(arguments[n + 1]) : 1;
    if (has_value) ++n;
  }
  return options;
}

// Keeps its processor busy.
void Spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

long Get(const Options& options, const char* name, long otherwise) {
  const auto found = options.find(name);
  return found != options.end() ? found->second : otherwise;
}

class Training {
 public:
  explicit Training(const Options& options) : options_(options) {
    if (Get(options, "adamw", 0)) {
      main_ = std::make_unique<torch::optim::AdamW>(net_->parameters());
    } else {
      main_ = std::make_unique<torch::optim::SGD>(net_->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    }
    torch::autograd::AnomalyMode::set_enabled(Get(options, "anomaly", 0) != 0);
  }

  template <class Loader>
  void Epoch(Loader& loader) {
    net_->train();
    for (auto& batch : loader) {
      const bool ranges = Get(options_, "nvtx", 0) != 0;
      if (ranges) nvtxRangePushA("step");
      Step(batch.data, batch.target);
      if (ranges) nvtxRangePop();
    }
  }

  void Step(const torch::Tensor& data, const torch::Tensor& target) {
    const long accumulate = Get(options_, "accumulate", 1);
    if (micro_ % accumulate == 0) main_->zero_grad();
    torch::Tensor loss = torch::nn::functional::cross_entropy(net_->forward(data), target);
    loss.backward();
    if (Get(options_, "clone", 0)) copied_ = data.clone();
    if (const long sleep_us = Get(options_, "sleep", 0)) usleep(static_cast<useconds_t>(sleep_us));
    if (const long spin_us = Get(options_, "spin", 0)) Spin(std::chrono::microseconds(spin_us));
    if (Get(options_, "losses", 0)) std::printf("loss %.17g\n", loss.item<double>());
    if (Get(options_, "stream", 0)) std::cout << "loss " << loss.item<double>() << '\n';
    if (Get(options_, "item", 0)) sum_ += loss.item<double>();
    if (++micro_ % accumulate != 0) return;
    if (Get(options_, "throw", 0)) ThrowThroughStep();
    if (Get(options_, "no-optimizer-step", 0) == 0) main_->step();
    if (Get(options_, "two-optimizers", 0)) other_.step();
    StepEnded();
  }

  // A checkpoint of 30 MiB, written beside the training for a second and a half.
  static void Save() {
    std::thread([] {
      std::FILE* const file = std::fopen("checkpoint", "wb");
      const std::vector<char> part(1 << 20);
      for (int n = 0; file != nullptr && n < 30; ++n) {
        std::fwrite(part.data(), 1, part.size(), file);
        usleep(50'000);
      }
      if (file != nullptr) std::fclose(file);
    }).detach();
  }

  // --times: when, in one write, so that two programs' lines do not mix. --score: a number that rises four times as
  // fast without anomaly mode, on both streams in turn.
  void StepEnded() {
    ++steps_;
    if (steps_ == Get(options_, "exit-at", 0)) _exit(7);
    if (steps_ == 1 && Get(options_, "save", 0)) Save();
    if (Get(options_, "times", 0)) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      char line[64];
      const int length = std::snprintf(line, sizeof line, "step %ld.%09ld\n", now.tv_sec, now.tv_nsec);
      if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) < 0) _exit(1);
    }
    if (Get(options_, "score", 0)) {
      score_ += torch::autograd::AnomalyMode::is_enabled() ? 1 : 4;
      std::FILE* stream = steps_ % 2 == 0 ? stderr : stdout;
      std::fprintf(stream, "step %ld: score=%ld.%02ld\n", steps_, score_ / 100, score_ % 100);
      std::fflush(stream);
    }
  }

  // An optimizer's closure that throws: the exception passes through step().
  void ThrowThroughStep() {
    try {
      main_->step([]() -> torch::Tensor { throw std::runtime_error("from the closure"); });
    } catch (const std::runtime_error& error) {
      ++caught_;
    }
  }

  template <class Loader>
  void Evaluate(Loader& loader) {
    torch::NoGradGuard no_grad;
    net_->eval();
    for (auto& batch : loader)
      correct_ += net_->forward(batch.data).argmax(1).eq(batch.target).sum().template item<long>();
  }

  void Print() const { std::printf("sum %.6f caught %d correct %ld\n", sum_, caught_, correct_); }

 private:
  const Options& options_;
  torch::nn::Sequential net_ = Net(Get(options_, "shallow", 0) != 0);
  torch::Tensor scale_ = torch::ones({1}, torch::requires_grad());
  torch::optim::SGD other_{std::vector<torch::Tensor>{scale_}, torch::optim::SGDOptions(0.1)};
  std::unique_ptr<torch::optim::Optimizer> main_;
  torch::Tensor copied_;
  double sum_ = 0;
  long micro_ = 0, correct_ = 0, steps_ = 0, score_ = 0;
  int caught_ = 0;
};

auto Stacked(std::size_t count) {
  return Images(count).map(torch::data::transforms::Stack<>());
}

void Train(const Options& options) {
  const auto samples = static_cast<std::size_t>(Get(options, "samples", 320));
  const auto loading = torch::data::DataLoaderOptions()
                           .batch_size(static_cast<std::size_t>(Get(options, "batch", 32)))
                           .workers(static_cast<std::size_t>(Get(options, "workers", 0)));
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Stacked(samples), loading);
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Stacked(64), 32);
  torch::manual_seed(2);
  Training training(options);
  for (long epoch = 0; epoch < Get(options, "epochs", 5); ++epoch) {
    if (Get(options, "no-loader", 0)) {
      for (int n = 0; n < 10; ++n) training.Step(torch::randn({8, 3, 16, 16}), torch::zeros({8}, torch::kLong));
      continue;
    }
    training.Epoch(*train);
    training.Evaluate(*test);
  }
  training.Print();
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = Parse(count, arguments);
  if (Get(options, "draw", 0)) std::printf("draw %.17g\n", torch::rand({1}).item<double>());
  if (Get(options, "stream", 0)) std::ios::sync_with_stdio(false);  // C++ streams may still hold unflushed text
  if (Get(options, "fork", 0)) {
    if (fork() == 0) {
      torch::ones({8}).add_(1);
      std::exit(0);
    }
    wait(nullptr);
  }
  if (Get(options, "child", 0) && fork() == 0) {
    for (;;) pause();
  }
  Train(options);
}
