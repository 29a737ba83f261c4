// Trains one step of a network with each kind of product and convolution, and checks probes/torch/gain_work.h on
// them: repeated on its own operands, each gives results of the same sizes, with as many operations as counted by
// hand.
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/torch/gain_work.h"

namespace {

namespace nn = torch::nn;
using loopscope::Work;

struct Seen {
  Work work;
  std::vector<std::vector<std::int64_t>> outcomes;  // sizes; empty ones of undefined tensors
};

std::vector<Seen> seen;

std::vector<std::int64_t> SizesOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.sizes().vec() : std::vector<std::int64_t>();
}

struct Number : at::ObserverContext {
  explicit Number(std::size_t of_seen) : number(of_seen) {}
  std::size_t number;
};

std::unique_ptr<at::ObserverContext> AtStart(const at::RecordFunction& function) {
  std::optional<Work> work = loopscope::WorkOf(function, false);
  if (!work) return nullptr;
  seen.push_back({*std::move(work), {}});
  return std::make_unique<Number>(seen.size() - 1);
}

void AtEnd(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;
  Seen& one = seen[static_cast<Number*>(context)->number];
  for (const c10::IValue& outcome : function.outputs()) {
    if (outcome.isTensor()) one.outcomes.push_back(SizesOf(outcome.toTensor()));
  }
}

struct Network : nn::Module {
  nn::Conv2d first{nn::Conv2dOptions(3, 8, 3).stride(2).padding(1)};
  nn::Conv2d grouped{nn::Conv2dOptions(8, 8, 3).groups(4).bias(false)};
  nn::ConvTranspose2d up{nn::ConvTranspose2dOptions(8, 4, 4).stride(2).padding(1)};
  nn::Conv1d line{nn::Conv1dOptions(4, 6, 5).dilation(2)};
  nn::Linear out{nn::LinearOptions(6, 5)};
  Network() {
    register_module("first", first);
    register_module("grouped", grouped);
    register_module("up", up);
    register_module("line", line);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor features = up(grouped(first(images)).relu()).flatten(2);
    const torch::Tensor rows = line(features).transpose(1, 2);
    const torch::Tensor mixed = torch::baddbmm(rows, rows, torch::bmm(rows.transpose(1, 2), rows));
    return out(mixed.mean(1));
  }
};

int Wrong(const std::string& what) {
  fmt::print("{}\n", what);
  return 1;
}

int CheckAgain(const Seen& one) {
  const torch::NoGradGuard no_grad;
  std::vector<std::vector<std::int64_t>> outcomes;
  for (const at::Tensor& outcome : Do(one.work, OperandsFor(one.work))) outcomes.push_back(SizesOf(outcome));
  const std::string text = TextOf(one.work);
  if (outcomes != one.outcomes) return Wrong(text + ": outcomes of other sizes");
  const Work shrunk = ShrunkTo(Operations(one.work) / 2, one.work);
  if (Operations(shrunk) > Operations(one.work) / 2) return Wrong(text + ": not made smaller");
  for (const at::Tensor& outcome : Do(shrunk, OperandsFor(shrunk))) {
    if (outcome.defined() && !outcome.isfinite().all().item<bool>()) return Wrong(text + ": not finite");
  }
  return 0;
}

}  // namespace

int main() {
  const auto callback =
      at::addGlobalCallback(at::RecordFunctionCallback(AtStart, AtEnd).needsInputs(true).needsOutputs(true));
  Network network;
  network.forward(torch::randn({4, 3, 16, 16})).sum().backward();
  const std::size_t of_network = seen.size();
  torch::mm(torch::ones({2, 2}, torch::kDouble), torch::ones({2, 2}, torch::kDouble));
  at::removeCallback(callback);
  // 4 images, 8 x 8 positions, 8 x 27 weights; its backward pass twice that. 4 rows, 6 x 5 weights.
  std::map<std::string, double> expected{
      {"aten::convolution f32[4,3,16,16];f32[8,3,3,3];f32[8]", 2.0 * 4 * 64 * 216},
      {"aten::convolution_backward f32[4,8,8,8];f32[4,3,16,16];f32[8,3,3,3]", 4.0 * 4 * 64 * 216},
      {"aten::addmm f32[5];f32[4,6];f32[6,5]", 2.0 * 4 * 30}};
  std::map<Work::Call, int> calls;
  int wrong = 0;
  for (const Seen& one : seen) {
    ++calls[one.work.call];
    wrong += CheckAgain(one);
    const auto known = expected.find(TextOf(one.work));
    if (known == expected.end()) continue;
    if (Operations(one.work) != known->second) wrong += Wrong(known->first + ": another number of operations");
    expected.erase(known);
  }
  for (const auto& [text, operations] : expected) wrong += Wrong(text + ": was not seen");
  if (calls.size() != 6) wrong += Wrong(fmt::format("{} of 6 kinds were seen", calls.size()));
  if (seen.size() != of_network) wrong += Wrong("a product of doubles was taken for one of floats");
  fmt::print("{} kinds, {} wrong\n", calls.size(), wrong);
  return wrong == 0 ? 0 : 1;
}
