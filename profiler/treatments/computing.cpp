// How the model computes: precision, layout, algorithms, threads.
#include <algorithm>

#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr EnvironmentVariable kThreadsVariables[] = {{.name = "OMP_NUM_THREADS"}, {.name = "MKL_NUM_THREADS"}};

std::vector<std::string> AmpValues(const Finding&, const Host& host) {
  // Without 16-bit units the casts are pure cost.
  const auto has = [&](std::string_view feature) {
    return std::ranges::find(host.features, feature) != host.features.end();
  };
  if (!host.gpus.empty() || has("avx512_bf16") || has("amx_bf16")) return {"bf16"};
  return {};
}

std::vector<std::string> ThreadsValues(const Finding&, const Host& host) {
  std::vector<std::string> values{std::to_string(host.cores)};
  if (host.cores > 1) values.push_back(std::to_string(host.cores / 2));
  return values;
}

}  // namespace

extern const Treatment kDebug{
    .id = "debug",
    .summary = "switch off anomaly mode and other debug switches",
    .exactness = Exactness::kExact,
    .cures = {"debug-left-on"},
    .appliers = {"torch", "python", "knob:train_image", "knob:train_text"},
    .values = {"off"},
    .live = true,
    .is_switch = true,
};

extern const Treatment kDeterministic{
    .id = "deterministic",
    .summary = "allow algorithms whose results differ from run to run",
    .exactness = Exactness::kNumeric,
    .cures = {"deterministic-mode"},
    .appliers = {"torch", "knob:train_image", "knob:train_text"},
    .values = {"off"},
    .live = true,
    .is_switch = true,
};

extern const Treatment kAmp{
    .id = "amp",
    .summary = "run the forward pass in 16-bit precision, one autocast scope per forward",
    .exactness = Exactness::kNumeric,
    .cures = {"fp32-compute"},
    .appliers = {"torch", "python", "knob:train_image", "knob:train_text"},
    .choose = AmpValues,
    .live = true,
};

extern const Treatment kTf32{
    .id = "tf32",
    .summary = "let float32 matrix products round their inputs to TF32",
    .exactness = Exactness::kNumeric,
    .cures = {"tf32-off"},
    .appliers = {"torch", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .needs_gpu = true,
    .live = true,
    .is_switch = true,
};

extern const Treatment kCudnnBenchmark{
    .id = "cudnn.benchmark",
    .summary = "let cuDNN time its convolution algorithms and take the fastest",
    .exactness = Exactness::kNumeric,
    .cures = {"cudnn-autotune-off", "cudnn-retuning"},
    .appliers = {"torch", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .needs_gpu = true,
    .live = true,
    .is_switch = true,
};

extern const Treatment kChannelsLast{
    .id = "channels_last",
    .summary = "keep convolutions' weights and activations channels-last",
    .exactness = Exactness::kNumeric,
    .cures = {"layout-conversion"},
    .appliers = {"python", "knob:train_image"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kBiasBeforeNormOff{
    .id = "bias.before_norm",
    .summary = "drop the bias of layers whose output goes straight into a batch norm",
    .exactness = Exactness::kNumeric,
    .cures = {"bias-before-norm"},
    .appliers = {"python", "knob:train_image"},
    .values = {"off"},
    .is_switch = true,
};

extern const Treatment kCompile{
    .id = "compile",
    .summary = "compile the model at its first training step",
    .exactness = Exactness::kNumeric,
    .cures = {"launch-bound"},
    .appliers = {"python"},
    .values = {"on"},
    .is_switch = true,
    .compiles = true,
};

extern const Treatment kCudaGraphs{
    .id = "cuda_graphs",
    .summary = "record what a step launches and launch it as a whole; Python models are compiled for it",
    .exactness = Exactness::kNumeric,
    .cures = {"launch-bound"},
    .appliers = {"python", "knob:train_image"},
    .values = {"on"},
    .needs_gpu = true,
    .is_switch = true,
    .compiles = true,
};

extern const Treatment kThreads{
    .id = "threads",
    .summary = "compute with N threads",
    .exactness = Exactness::kNumeric,
    .cures = {"thread-oversubscription", "idle-processors"},
    .appliers = {"environment", "knob:train_image", "knob:train_text"},
    .choose = ThreadsValues,
    .environment = kThreadsVariables,
};

}  // namespace loopscope
