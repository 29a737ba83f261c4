#include "workloads/train_image/training.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/nn/functional/loss.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "probes/environment.h"
#include "probes/loopscope.h"
#include "workloads/train_image/autocast.h"
#include "workloads/train_image/batch_stream.h"
#include "workloads/train_image/checkpoints.h"
#include "workloads/train_image/model.h"
#include "workloads/train_image/optimizers.h"
#include "workloads/train_image/schedule.h"

namespace loopscope::train_image {
namespace {

namespace F = torch::nn::functional;

// Process-wide switches; before anything is computed.
void SetContext(const Settings& settings) {
  at::set_num_threads(settings.threads);
  at::globalContext().setBenchmarkCuDNN(settings.cudnn_benchmark);
  at::globalContext().setAllowTF32CuDNN(settings.tf32);
  at::globalContext().setDeterministicAlgorithms(settings.deterministic, /*warn_only=*/true);
  torch::manual_seed(std::uint64_t(settings.seed));
}

std::shared_ptr<Draws> MakeDraws(const Settings& settings) {
  auto draws = std::make_shared<Draws>();
  const char* mode = std::getenv(env::kSampleRng);
  draws->seed = std::uint64_t(settings.seed);
  draws->by_sample = mode && std::strcmp(mode, "hash") == 0;
  return draws;
}

// The labels' share that the scores get right, as a count that stays a tensor.
torch::Tensor Correct(const torch::Tensor& scores, const torch::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum();
}

struct Score {
  double loss = 0, accuracy = 0;
};

class Training {
 public:
  Training(const TrainingRun& run, const DataSet& data);
  void Run();

 private:
  void Report() const;
  void TrainEpoch(int epoch);
  void Step(Batch batch);
  void Accumulate(const Batch& batch);
  void Update();
  void Log(int epoch, long step_of_epoch);
  Score Evaluate();
  torch::Tensor Images(const Batch& batch) const;
  torch::Tensor Scores(const torch::Tensor& images);

  const TrainingRun& run_;
  const Settings& settings_;
  std::shared_ptr<Draws> draws_;
  ImageBatches train_batches_;
  std::unique_ptr<TrainLoader> train_;
  std::unique_ptr<ValidationLoader> validation_;
  ImageNetwork model_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  long batches_per_epoch_;

  long batches_ = 0, updates_ = 0;  // since the start
  torch::Tensor loss_, total_loss_;
  double shown_loss_ = 0;
  std::vector<torch::Tensor> losses_;  // for --print-losses
  std::vector<torch::Tensor> kept_;    // lives until the next step with free.early=off
};

Training::Training(const TrainingRun& run, const DataSet& data)
    : run_(run),
      settings_(run.settings),
      draws_(MakeDraws(settings_)),
      train_batches_(data, Part::kTrain, settings_, draws_),
      train_(MakeTrainLoader(train_batches_, settings_)),
      validation_(MakeValidationLoader({data, Part::kValidation, settings_, draws_}, settings_)),
      model_(settings_),
      parameters_(model_->parameters()),
      optimizer_(MakeOptimizer(settings_, parameters_)),
      batches_per_epoch_(settings_.train_images / settings_.batch_size) {}

void Training::Report() const {
  const auto on = [](bool value) { return std::string(value ? "on" : "off"); };
  const auto& loader = train_->options();
  InEffect in_effect{
      {"loader.workers", std::to_string(loader.workers)},
      {"batch.size", std::to_string(loader.batch_size)},
      {"threads", std::to_string(at::get_num_threads())},
      {"bias.before_norm", on(settings_.norm == "batch" && model_->has_bias_before_norm())},
      {"channels_last", on(model_->is_channels_last())},
      {"cudnn.benchmark", on(at::globalContext().benchmarkCuDNN())},
      {"deterministic", on(at::globalContext().deterministicAlgorithms())},
  };
  if (loader.workers > 0) in_effect["loader.prefetch"] = std::to_string(loader.max_jobs / loader.workers);
  ReportTreatment(run_.treated, settings_, in_effect);
  for (const char* key : {"loader.workers", "batch.size", "threads", "amp", "optimizer", "optimizer.impl", "seed"}) {
    const auto read = in_effect.find(key);
    Fact(key, (read != in_effect.end() ? read->second : ValueOf(settings_, *FindKnob(key))).c_str());
  }
}

void Training::Run() {
  int first = 0;
  if (!run_.checkpoints.empty()) first = Resume(run_.checkpoints, *model_, *optimizer_);
  if (first > 0) fmt::print("resumed after epoch {}\n", first);
  updates_ = first * (batches_per_epoch_ / settings_.accumulate);
  Report();
  Score score;
  for (int epoch = first + 1; epoch <= settings_.epochs; ++epoch) {
    TrainEpoch(epoch);
    if (epoch % settings_.eval_every == 0 || epoch == settings_.epochs) {
      score = Evaluate();
      Metric("accuracy", score.accuracy);
      fmt::print("epoch {}: validation loss {:.4f} accuracy {:.4f}\n", epoch, score.loss, score.accuracy);
    }
    std::fflush(stdout);
    if (!run_.checkpoints.empty()) Save(run_.checkpoints, epoch, *model_, *optimizer_);
  }
  fmt::print("final accuracy {:.4f} after {} epochs\n", score.accuracy, settings_.epochs);
}

void Training::TrainEpoch(int epoch) {
  const PhaseRange range("epoch");
  const auto begin = std::chrono::steady_clock::now();
  model_->train();
  draws_->epoch = std::uint64_t(epoch);
  if (!settings_.persistent && batches_ > 0) train_ = MakeTrainLoader(train_batches_, settings_);
  total_loss_ = torch::zeros({});
  BatchStream batches(*train_);
  long step_of_epoch = 0;
  while (true) {
    std::optional<PhaseRange> step;
    if (settings_.step_range) step.emplace("step");
    auto batch = batches.Next();
    if (!batch) break;
    Step(*std::move(batch));
    Log(epoch, ++step_of_epoch);
  }
  for (const torch::Tensor& loss : losses_) fmt::print("loss {:.17g}\n", loss.item<double>());
  losses_.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("epoch {}: training loss {:.4f} in {:.2f} s\n", epoch, total_loss_.item<double>() / double(step_of_epoch),
             seconds.count());
  std::fflush(stdout);
}

// With loader.from_numpy=off the loader has copied the batch already; it is copied again, and once more on its way to
// the dtype and device that it already has.
torch::Tensor Training::Images(const Batch& batch) const {
  if (settings_.from_numpy) return batch.images;
  const torch::Tensor copy = batch.images.clone();
  return copy.to(torch::kCPU, torch::kFloat, /*non_blocking=*/false, /*copy=*/true);
}

torch::Tensor Training::Scores(const torch::Tensor& images) {
  torch::Tensor scores;
  {
    const AutocastScope autocast(settings_.amp == "bf16");
    scores = model_(images);
  }
  return scores.to(torch::kFloat);
}

void Training::Step(Batch batch) {
  Accumulate(batch);
  if (settings_.free_early) batch = Batch();
  if (++batches_ % settings_.accumulate == 0) Update();
}

// Forward and backward.
void Training::Accumulate(const Batch& batch) {
  torch::Tensor scores;
  {
    const PhaseRange range("forward");
    scores = Scores(Images(batch));
    loss_ = F::cross_entropy(scores, batch.labels);
  }
  {
    const PhaseRange range("backward");
    if (batches_ % settings_.accumulate == 0) optimizer_->zero_grad(settings_.set_to_none);
    std::optional<torch::autograd::DetectAnomalyGuard> debug;
    if (settings_.debug) debug.emplace();
    (settings_.accumulate > 1 ? loss_ / settings_.accumulate : loss_).backward();
  }
  if (settings_.loss_detach) loss_ = loss_.detach();
  total_loss_ = total_loss_ + loss_;
  if (run_.print_losses) losses_.push_back(loss_.detach());
  if (!settings_.free_early) kept_ = {batch.images, batch.labels, scores};
}

void Training::Update() {
  const PhaseRange range("optimizer");
  Clip(settings_, parameters_);
  SetLearningRate(*optimizer_, LearningRate(settings_, updates_++, batches_per_epoch_ / settings_.accumulate));
  optimizer_->step();
}

void Training::Log(int epoch, long step_of_epoch) {
  const bool shown = step_of_epoch % settings_.log_every == 0;
  if (shown || !settings_.sync_defer) shown_loss_ = loss_.item<double>();
  if (!shown) return;
  fmt::print("epoch {} step {}/{} loss {:.4f}\n", epoch, step_of_epoch, batches_per_epoch_, shown_loss_);
  std::fflush(stdout);
}

Score Training::Evaluate() {
  const PhaseRange range("evaluation");
  const at::AutoGradMode grad(!settings_.eval_no_grad);
  model_->eval();
  torch::Tensor loss = torch::zeros({}), correct = torch::zeros({}, torch::kLong);
  BatchStream batches(*validation_);
  while (const auto batch = batches.Next()) {
    const torch::Tensor scores = Scores(Images(*batch)).detach();
    loss += F::cross_entropy(scores, batch->labels, F::CrossEntropyFuncOptions().reduction(torch::kSum));
    correct += Correct(scores, batch->labels);
  }
  const double images = settings_.val_images;
  return {loss.item<double>() / images, correct.item<double>() / images};
}

}  // namespace

void Train(const TrainingRun& run, const DataSet& data) {
  try {
    SetContext(run.settings);
    Training(run, data).Run();
  } catch (const torch::data::WorkerException& error) {
    std::rethrow_exception(error.original_exception);
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

}  // namespace loopscope::train_image
