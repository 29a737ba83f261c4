// Training that sleeps at known lines. How long the sleeps of a step really took goes into the file that the argument
// names, as JSON: an object per step, line to milliseconds.
#include <torch/torch.h>

#include <chrono>
#include <fstream>
#include <latch>
#include <map>
#include <mutex>
#include <source_location>
#include <thread>

using namespace std::chrono_literals;
using std::this_thread::sleep_for;
using Clock = std::chrono::steady_clock;

namespace {

std::map<unsigned, double> taken;  // line to ms, of the current step

void Note(Clock::time_point begin, std::source_location here = std::source_location::current()) {
  taken[here.line()] = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void Log() {
  const auto begin = Clock::now();
  sleep_for(4ms), Note(begin);  // step: 4 ms
}

void WaitForALock() {
  std::mutex mutex;
  std::latch held(1);
  const std::jthread holder([&] {
    const std::lock_guard<std::mutex> lock(mutex);
    held.count_down();
    sleep_for(6ms);
  });
  held.wait();
  const auto begin = Clock::now();
  mutex.lock(), Note(begin);  // step: 6 ms, a lock
  mutex.unlock();
}

void Write(std::ofstream& file) {
  const char* before = "{";
  for (const auto& [line, ms] : taken) {
    file << before << '"' << line << "\": " << ms;
    before = ", ";
  }
  file << "}\n" << std::flush;  // a bounded run ends without it
}

}  // namespace

int main(int, char** arguments) {
  std::ofstream file(arguments[1]);
  torch::manual_seed(0);
  torch::nn::Linear model(8, 2);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  const torch::Tensor inputs = torch::rand({16, 8}), labels = torch::zeros({16}, torch::kLong);
  for (int step = 0; step < 80; ++step) {
    optimizer.zero_grad();
    const torch::Tensor outputs = model->forward(inputs);
    auto begin = Clock::now();
    sleep_for(8ms), Note(begin);  // step: 8 ms
    const torch::Tensor loss = torch::nn::functional::cross_entropy(outputs, labels);
    begin = Clock::now();
    sleep_for(12ms), Note(begin);  // step: 12 ms
    loss.backward();
    optimizer.step();
    Log();
    WaitForALock();
    Write(file);
  }
}
