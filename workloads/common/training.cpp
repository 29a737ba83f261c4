#include "workloads/common/training.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/ops/linalg_svdvals.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/data/worker_exception.h>
#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "probes/loopscope.h"
#include "workloads/common/autocast.h"
#include "workloads/common/device.h"
#include "workloads/common/grad_scaler.h"
#include "workloads/common/graphed_loss.h"
#include "workloads/common/learning_rate.h"
#include "workloads/common/optimizers.h"
#include "workloads/common/ranges.h"
#include "workloads/common/ranks/data_parallel.h"
#include "workloads/common/ranks/rank_group.h"
#include "workloads/common/ranks/rank_positions.h"
#include "workloads/common/weights.h"

namespace loopscope::train {
namespace {

namespace F = torch::nn::functional;

// Process-wide switches; before anything is computed.
void SetContext(const CommonSettings& settings) {
  at::set_num_threads(settings.threads);
  at::globalContext().setBenchmarkCuDNN(settings.cudnn_benchmark);
  at::globalContext().setAllowTF32CuDNN(settings.tf32);
  at::globalContext().setAllowTF32CuBLAS(settings.tf32);
  at::globalContext().setDeterministicCuDNN(settings.deterministic);
  at::globalContext().setDeterministicAlgorithms(settings.deterministic, /*warn_only=*/true);
  torch::manual_seed(static_cast<std::uint64_t>(settings.seed));
}

// How many labels the scores get right, as a tensor.
torch::Tensor Correct(const torch::Tensor& scores, const torch::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum();
}

struct Score {
  double loss = 0, accuracy = 0;
};

class Training {
 public:
  // `group` is null where one rank trains, `graphs` where no passes are recorded.
  Training(const TrainingRun& run, RankGroup* group, c10::Device device, MakeDeviceGraph graphs,
           std::unique_ptr<Task> task);
  void Run();

 private:
  void Report() const;
  void TrainEpoch(int epoch);
  void LoadEpoch(int epoch);
  void FindLearningRate();
  void Step(Batch batch);
  void Accumulate(const Batch& batch);
  bool ReadyGradients();
  void Update();
  void Log(int epoch, long step_of_epoch);
  void LogSpectra();
  Score Evaluate();
  torch::Tensor Scores(const Batch& batch);
  torch::Tensor Loss(const Batch& batch, torch::Tensor& scores);
  GradScaler* Scaler();
  std::optional<Batch> NextOnDevice();
  torch::Tensor OverRanks(const torch::Tensor& mean);
  bool Speaks() const { return run_.ranks.leads() || !settings_.log_rank0; }
  void Enter(const char* phase);

  // A knob that Loopscope may change between steps.
  struct Turned {
    Training* training;
    const Knob* knob;
    std::string own;
    bool reported;
  };
  bool OfferKnobs();
  static bool Turn(const char* value, void* turned);

  const TrainingRun& run_;
  RankGroup* group_;
  c10::Device device_;
  CommonSettings settings_;  // a copy: a search may change the learning rate
  std::deque<Turned> turned_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<DataParallel> parallel_;
  std::unique_ptr<RankPositions> positions_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;    // with fp16
  std::optional<GraphedLoss> graphed_;  // with cuda_graphs
  long batches_per_epoch_;

  long batches_ = 0, updates_ = 0;  // since the start
  int epoch_ = 0;
  long step_of_epoch_ = 0;
  torch::Tensor loss_, total_loss_;
  double shown_loss_ = 0;
  std::vector<torch::Tensor> losses_;  // for --print-losses
  std::vector<torch::Tensor> kept_;    // batches and scores since the last line of the log, with free.early=off
};

std::unique_ptr<DataParallel> MakeParallel(RankGroup* group, Task& task, const CommonSettings& settings) {
  if (group == nullptr) return nullptr;
  const DataParallelOptions options{
      .bucket_mb = settings.bucket_mb, .find_unused = settings.find_unused, .exchanges = settings.exchanges};
  return std::make_unique<DataParallel>(*group, task.model(), options);
}

// Shared with the process that --ranks started from; other launchers do not ask.
std::unique_ptr<RankPositions> MakePositions(const Ranks& ranks) {
  if (ranks.store.empty()) return nullptr;
  return std::make_unique<RankPositions>(ranks.store.string() + ".positions", ranks.size, /*make=*/false);
}

Training::Training(const TrainingRun& run, RankGroup* group, c10::Device device, MakeDeviceGraph graphs,
                   std::unique_ptr<Task> task)
    : run_(run),
      group_(group),
      device_(device),
      settings_(run.settings),
      task_(std::move(task)),
      parallel_(MakeParallel(group, *task_, settings_)),
      positions_(MakePositions(run.ranks)),
      parameters_(task_->model().parameters()),
      optimizer_(MakeOptimizer(settings_, parameters_, OfferKnobs())),
      batches_per_epoch_(task_->batches_per_epoch()) {
  if (graphs == nullptr) return;
  const auto loss = [this, scores = torch::Tensor()](const Batch& batch) mutable { return Loss(batch, scores); };
  graphed_.emplace(loss, parameters_, graphs);
}

// Registers knobs that act in every step, which recorded passes would not. Returns whether the optimizer's
// implementation is among those switched.
bool Training::OfferKnobs() {
  bool implementation = false;
  std::vector<const char*> keys = {"grad.set_to_none", "sync.defer", "clip.foreach", "optimizer.impl"};
  if (!settings_.cuda_graphs) keys.insert(keys.end(), {"debug", "amp"});
  for (const char* key : keys) {
    const Knob* knob = run_.knobs.Find(key);
    turned_.push_back({this, knob, ValueOf(*knob), false});
    if (Switchable(key, Turn, &turned_.back())) implementation |= knob->key == "optimizer.impl";
  }
  return implementation;
}

bool Training::Turn(const char* value, void* turned) {
  auto& [training, knob, own, reported] = *static_cast<Turned*>(turned);
  const Knobs& knobs = training->run_.knobs;
  const std::string wanted = value != nullptr ? value : own;
  if (knobs.Assign(*knob, wanted)) return false;
  const double rate = training->settings_.lr;
  training->settings_ = training->run_.settings;
  training->settings_.lr = rate;
  if (knob->key == "optimizer.impl" && !SetImplementation(*training->optimizer_, wanted)) return false;
  if (!std::exchange(reported, true)) ReportTreatment({{knob, own}}, knobs, {});
  return wanted != own && !knobs.Idle(knob->key);
}

void Training::Report() const {
  const auto on = [](bool value) { return std::string(value ? "on" : "off"); };
  InEffect in_effect = task_->ReadBack();
  in_effect["threads"] = std::to_string(at::get_num_threads());
  in_effect["cudnn.benchmark"] = on(at::globalContext().benchmarkCuDNN());
  in_effect["deterministic"] = on(at::globalContext().deterministicAlgorithms());
  ReportTreatment(run_.treated, run_.knobs, in_effect);
  for (const char* key : {"loader.workers", "batch.size", "threads", "amp", "optimizer", "optimizer.impl", "seed",
                          "loader.persistent", "device"}) {
    const auto read = in_effect.find(key);
    Fact(key, (read != in_effect.end() ? read->second : run_.knobs.Value(key)).c_str());
  }
  if (!parallel_) return;
  Fact("ddp.find_unused_parameters", settings_.find_unused ? "True" : "False");
  Fact("ddp.bucket_cap_mb", run_.knobs.Value("ddp.bucket_mb").c_str());
}

void Training::Enter(const char* phase) {
  if (positions_) positions_->Note(run_.ranks.rank, epoch_, static_cast<int>(step_of_epoch_), phase);
}

// The mean over all ranks of each one's mean.
torch::Tensor Training::OverRanks(const torch::Tensor& mean) {
  if (group_ == nullptr) return mean;
  torch::Tensor sum = mean.detach().clone();
  group_->Sum(sum);
  return sum / settings_.ranks;
}

void Training::Run() {
  int first = 0;
  if (!run_.checkpoints.empty()) first = Resume(run_.checkpoints, task_->model(), *optimizer_);
  if (first > 0 && Speaks()) fmt::print("resumed after epoch {}\n", first);
  updates_ = first * (batches_per_epoch_ / settings_.accumulate);
  Report();
  if (settings_.lr_find && first == 0) FindLearningRate();
  Score score;
  for (int epoch = first + 1; epoch <= settings_.epochs; ++epoch) {
    if (settings_.loader_only) {
      LoadEpoch(epoch);
      continue;
    }
    TrainEpoch(epoch);
    if (epoch % settings_.eval_every == 0 || epoch == settings_.epochs) {
      score = Evaluate();
      Metric("accuracy", score.accuracy);
      if (Speaks()) fmt::print("epoch {}: validation loss {:.4f} accuracy {:.4f}\n", epoch, score.loss, score.accuracy);
    }
    std::fflush(stdout);
    if (!run_.checkpoints.empty() && run_.ranks.leads()) Save(run_.checkpoints, epoch, task_->model(), *optimizer_);
  }
  if (Speaks()) fmt::print("final accuracy {:.4f} after {} epochs\n", score.accuracy, settings_.epochs);
}

// The search takes real training steps. Afterwards the weights are restored, and the optimizer is made again.
void Training::FindLearningRate() {
  std::vector<torch::Tensor> weights;
  for (const torch::Tensor& one : parameters_) weights.push_back(one.detach().clone());
  for (const torch::Tensor& one : task_->model().buffers()) weights.push_back(one.detach().clone());
  std::vector<double> losses;
  task_->model().train();
  for (int pass = 1; losses.size() < kFindSteps; ++pass) {
    task_->StartEpoch(pass);
    // A pass must end before another begins.
    while (auto batch = NextOnDevice()) {
      if (losses.size() >= kFindSteps) continue;
      total_loss_ = torch::zeros({}, device_);
      batches_ = 0;
      Accumulate(*batch);
      const bool finite = ReadyGradients();
      SetLearningRate(*optimizer_, RateOfSearch(settings_.lr, static_cast<int>(losses.size())));
      if (finite) optimizer_->step();
      losses.push_back(OverRanks(loss_).item<double>());
    }
  }
  const torch::NoGradGuard no_grad;
  std::size_t at = 0;
  for (torch::Tensor& one : parameters_) one.copy_(weights[at++]);
  for (torch::Tensor& one : task_->model().buffers()) one.copy_(weights[at++]);
  settings_.lr = RateFound(settings_.lr, losses);
  optimizer_ = MakeOptimizer(settings_, parameters_);
  losses_.clear();
  if (Speaks()) fmt::print("learning rate {:.4g} found in {} steps\n", settings_.lr, kFindSteps);
}

// Each batch is a step: no optimizer step could end one.
void Training::LoadEpoch(int epoch) {
  task_->StartEpoch(epoch);
  while (const auto batch = task_->Next()) StepEnd(static_cast<std::uint64_t>(batch->labels.size(0)));
}

void Training::TrainEpoch(int epoch) {
  const PhaseRange range("epoch");
  const auto begin = std::chrono::steady_clock::now();
  task_->model().train();
  total_loss_ = torch::zeros({}, device_);
  task_->StartEpoch(epoch);
  epoch_ = epoch;
  step_of_epoch_ = 0;
  while (true) {
    std::optional<PhaseRange> step;
    if (settings_.step_range) step.emplace("step");
    ++step_of_epoch_;
    Enter("loader");
    auto batch = NextOnDevice();
    if (!batch) break;
    Step(*std::move(batch));
    Log(epoch, step_of_epoch_);
  }
  for (const torch::Tensor& loss : losses_) fmt::print("loss {:.17g}\n", loss.item<double>());
  losses_.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const double loss = OverRanks(total_loss_).item<double>() / static_cast<double>(step_of_epoch_ - 1);
  if (Speaks()) fmt::print("epoch {}: training loss {:.4f} in {:.2f} s\n", epoch, loss, seconds.count());
  std::fflush(stdout);
}

std::optional<Batch> Training::NextOnDevice() {
  auto batch = task_->Next();
  if (batch && !device_.is_cpu()) batch = ToDevice(*std::move(batch), device_, settings_.non_blocking);
  return batch;
}

torch::Tensor Training::Scores(const Batch& batch) {
  torch::Tensor scores;
  {
    const AutocastScope autocast(device_.type(), AutocastType(settings_.amp));
    scores = task_->Scores(batch);
  }
  return scores.to(torch::kFloat);
}

torch::Tensor Training::Loss(const Batch& batch, torch::Tensor& scores) {
  scores = Scores(batch);
  return F::cross_entropy(scores, batch.labels);
}

void Training::Step(Batch batch) {
  if (settings_.rank == settings_.slow_rank) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(settings_.slow_ms));
  }
  Accumulate(batch);
  if (settings_.free_early) batch = Batch();
  if (++batches_ % settings_.accumulate == 0) Update();
}

// Null without fp16, which a switch between steps may turn on.
GradScaler* Training::Scaler() {
  if (settings_.amp != "fp16") return nullptr;
  if (!scaler_) scaler_.emplace(device_);
  return &*scaler_;
}

// Forward and backward.
void Training::Accumulate(const Batch& batch) {
  // While gradients are accumulated, only the last backward pass before a step must exchange them.
  const bool exchange = !settings_.no_sync || (batches_ + 1) % settings_.accumulate == 0;
  torch::Tensor scores;
  {
    const PhaseRange range("forward");
    Enter("forward");
    if (parallel_) parallel_->BeforeForward(exchange);
    loss_ = graphed_ ? (*graphed_)(batch) : Loss(batch, scores);
    if (parallel_) parallel_->AfterForward(scores, exchange);
  }
  {
    const PhaseRange range("backward");
    Enter("backward");
    if (batches_ % settings_.accumulate == 0) optimizer_->zero_grad(settings_.set_to_none);
    std::optional<torch::autograd::DetectAnomalyGuard> debug;
    if (settings_.debug) debug.emplace();
    const torch::Tensor share = settings_.accumulate > 1 ? loss_ / settings_.accumulate : loss_;
    (Scaler() != nullptr ? Scaler()->Scale(share) : share).backward();
  }
  if (settings_.loss_detach) loss_ = loss_.detach();
  total_loss_ = total_loss_ + loss_;
  if (run_.print_losses && run_.ranks.leads()) losses_.push_back(loss_.detach());
  if (!settings_.free_early) kept_.insert(kept_.end(), {batch.inputs, batch.labels, batch.padding, scores.detach()});
}

// Unscales and clips the gradients for the optimizer. False when this step must be skipped.
bool Training::ReadyGradients() {
  const bool finite = Scaler() == nullptr || Scaler()->Unscale(parameters_);
  if (finite) Clip(settings_, parameters_);
  return finite;
}

void Training::Update() {
  const PhaseRange range("optimizer");
  Enter("optimizer");
  const bool finite = ReadyGradients();
  SetLearningRate(*optimizer_, LearningRate(settings_, updates_++, batches_per_epoch_ / settings_.accumulate));
  if (finite) optimizer_->step();
  if (settings_.cache_empty && !device_.is_cpu()) at::accelerator::emptyCache();
}

void Training::Log(int epoch, long step_of_epoch) {
  if (settings_.log_spectra > 0 && batches_ % settings_.log_spectra == 0) LogSpectra();
  const bool shown = step_of_epoch % settings_.log_every == 0;
  Enter("log");
  if (shown || !settings_.sync_defer) shown_loss_ = OverRanks(loss_).item<double>();
  if (shown) kept_.clear();
  if (!shown || !Speaks()) return;
  fmt::print("epoch {} step {}/{} loss {:.4f}\n", epoch, step_of_epoch, batches_per_epoch_, shown_loss_);
  if (settings_.log_weights > 0) PrintWeights(parameters_, settings_.log_weights);
  std::fflush(stdout);
}

void Training::LogSpectra() {
  const torch::NoGradGuard no_grad;
  double largest = 0;
  for (const torch::Tensor& parameter : parameters_) {
    if (parameter.dim() < 2) continue;
    largest = std::max(largest, at::linalg_svdvals(parameter.flatten(1)).max().item<double>());
  }
  if (Speaks()) fmt::print("largest spectral norm {:.4f}\n", largest);
}

Score Training::Evaluate() {
  const PhaseRange range("evaluation");
  Enter("evaluation");
  const at::AutoGradMode grad(!settings_.eval_no_grad);
  task_->model().eval();
  torch::Tensor loss = torch::zeros({}, device_);
  torch::Tensor correct = torch::zeros({}, torch::TensorOptions(device_).dtype(torch::kLong));
  std::int64_t samples = 0;
  task_->StartEvaluation();
  while (const auto batch = NextOnDevice()) {
    const torch::Tensor scores = Scores(*batch).detach();
    loss += F::cross_entropy(scores, batch->labels, F::CrossEntropyFuncOptions().reduction(torch::kSum));
    correct += Correct(scores, batch->labels);
    samples += batch->labels.size(0);
  }
  if (group_ == nullptr) {
    const double all = static_cast<double>(task_->validation_samples());
    return {loss.item<double>() / all, correct.item<double>() / all};
  }
  // Shares were filled up to equal length: the mean is over the samples that were counted.
  const torch::Tensor sums = torch::tensor({loss.item<double>(), correct.item<double>(), static_cast<double>(samples)});
  group_->Sum(sums);
  const auto sum = sums.accessor<float, 1>();
  return {sum[0] / sum[2], sum[1] / sum[2]};
}

void TrainOneRank(const TrainingRun& run, RankGroup* group, const std::function<std::unique_ptr<Task>()>& make) {
  try {
    const c10::Device device = OpenDevice(run.settings);
    SetContext(run.settings);
    const MakeDeviceGraph graphs = run.settings.cuda_graphs ? OpenDeviceGraphs(device) : nullptr;
    std::unique_ptr<Task> task = make();
    task->model().to(device);
    Training(run, group, device, graphs, std::move(task)).Run();
  } catch (const torch::data::WorkerException& error) {
    std::rethrow_exception(error.original_exception);
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

}  // namespace

void Train(const TrainingRun& run, const std::function<std::unique_ptr<Task>()>& make) {
  OpenDevice(run.settings);
  const bool nccl = ExchangesByNccl(run.settings);
  if (!run.ranks.several() && !nccl) return TrainOneRank(run, nullptr, make);
  try {
    RankGroup group(run.ranks, std::chrono::seconds(run.settings.rank_timeout_s), nccl);
    TrainOneRank(run, &group, make);
    group.Barrier();
  } catch (const std::exception& error) {
    // Not rethrown: the group's threads may be waiting for a dead rank.
    fmt::print(stderr, "{}: rank {}: {}\n", program_invocation_short_name, run.ranks.rank, error.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

}  // namespace loopscope::train
