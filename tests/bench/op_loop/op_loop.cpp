// An op-bound loop: in-place adds of one-element tensors, nothing else. Takes turns (tests/bench/turns.py): for each
// line it reads it prints the time per op of one stretch, so that what a probe or a profiler adds to each can be read
// off: ns of wall time and of this thread's processor time. Says at last how many ops it ran and how many events
// torch's profiler made. Usage: op_loop plain|kineto OPS
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <time.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "probes/loopscope.h"

namespace {

constexpr long kOpsPerStep = 1000;
constexpr long kWarmupSteps = 20;
constexpr long kTurnWarmupSteps = 2;  // another program ran before

void RunSteps(at::Tensor& sum, const at::Tensor& one, long steps) {
  for (long step = 0; step < steps; ++step) {
    for (long op = 0; op < kOpsPerStep; ++op) sum.add_(one);
    loopscope::StepEnd(1);
  }
}

double Nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void StartKineto() {
  using namespace torch::profiler::impl;
  const ProfilerConfig config(ProfilerState::KINETO);  // no shapes, no memory, no stacks
  const std::set<ActivityType> activities = {ActivityType::CPU};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  const long steps = count > 2 ? std::atol(arguments[2]) / kOpsPerStep : 0;
  const bool kineto = mode == "kineto";
  if ((!kineto && mode != "plain") || steps < 1) {
    std::fprintf(stderr, "usage: op_loop plain|kineto OPS (at least %ld)\n", kOpsPerStep);
    return 2;
  }
  at::Tensor sum = at::ones({1});
  const at::Tensor one = at::ones({1});
  RunSteps(sum, one, kWarmupSteps);
  if (kineto) StartKineto();
  long ops = 0;
  for (int read; (read = std::getchar()) != EOF;) {
    if (read != '\n') continue;
    RunSteps(sum, one, kTurnWarmupSteps);
    const double wall_begin_ns = Nanoseconds(CLOCK_MONOTONIC), cpu_begin_ns = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    RunSteps(sum, one, steps);
    const double wall_ns = Nanoseconds(CLOCK_MONOTONIC) - wall_begin_ns;
    const double cpu_ns = Nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin_ns;
    const auto timed_ops = static_cast<double>(steps * kOpsPerStep);
    std::printf("{\"wall\": %.3f, \"cpu\": %.3f}\n", wall_ns / timed_ops, cpu_ns / timed_ops);
    std::fflush(stdout);
    ops += (kTurnWarmupSteps + steps) * kOpsPerStep;
  }
  const long seen = kineto ? static_cast<long>(torch::autograd::profiler::disableProfiler()->events().size()) : -1;
  std::printf("{\"ops\": %ld, \"warmup_ops\": %ld, \"events\": %ld}\n", ops, kWarmupSteps * kOpsPerStep, seen);
}
