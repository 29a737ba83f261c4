#include "workloads/common/weights.h"

#include <fmt/format.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <string>

namespace loopscope::train {
namespace {

namespace fs = std::filesystem;

fs::path Newest(const fs::path& folder) {
  fs::path newest;
  if (!fs::is_directory(folder)) return newest;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt" && entry.path() > newest) newest = entry.path();
  }
  return newest;
}

}  // namespace

int Resume(const fs::path& folder, torch::nn::Module& model, torch::optim::Optimizer& optimizer) {
  const fs::path path = Newest(folder);
  if (path.empty()) return 0;
  try {
    torch::serialize::InputArchive archive, weights, moments;
    torch::Tensor epochs;
    archive.load_from(path.string());
    archive.read("model", weights);
    archive.read("optimizer", moments);
    archive.read("epochs", epochs);
    model.load(weights);
    optimizer.load(moments);
    return static_cast<int>(epochs.item<std::int64_t>());
  } catch (const c10::Error& error) {
    throw std::runtime_error(fmt::format("cannot resume from {} (saved with other knobs, or damaged): {}",
                                         path.string(), error.what_without_backtrace()));
  }
}

void Save(const fs::path& folder, int epochs, const torch::nn::Module& model,
          const torch::optim::Optimizer& optimizer) {
  fs::create_directories(folder);
  torch::serialize::OutputArchive archive, weights, moments;
  model.save(weights);
  optimizer.save(moments);
  archive.write("model", weights);
  archive.write("optimizer", moments);
  archive.write("epochs", torch::full({}, epochs, torch::kLong));
  const fs::path path = folder / fmt::format("epoch-{:06}.pt", epochs);
  const fs::path saving = path.string() + ".saving";
  archive.save_to(saving.string());
  fs::rename(saving, path);
}

void PrintWeights(const std::vector<torch::Tensor>& parameters, int most) {
  std::string text = "weights";
  for (const torch::Tensor& parameter : parameters) {
    const torch::Tensor flat = parameter.detach().contiguous().flatten();
    const int shown = static_cast<int>(std::min<std::int64_t>(most, flat.numel()));
    for (int i = 0; i < shown; ++i) {
      fmt::format_to(std::back_inserter(text), " {:.3f}", flat.const_data_ptr<float>()[i]);
    }
    most -= shown;
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace loopscope::train
