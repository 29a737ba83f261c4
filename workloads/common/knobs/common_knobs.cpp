#include "workloads/common/knobs/common_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "workloads/common/knobs/knobs.h"
namespace loopscope::train {

std::vector<Knob> CommonKnobs(CommonSettings& settings) {
  return {
      {"device", &settings.device, "cpu|cuda", "common/device.cpp:device", "-", "what computes; also --device"},
      {"loader.workers", &settings.workers, "0..64", "common/loader_options.h:loader", "1 2 52",
       "threads that make batches; 0 = the training thread does it"},
      {"loader.prefetch", &settings.prefetch, "1..64", "common/loader_options.h:loader", "1",
       "batches each worker prepares ahead"},
      {"loader.persistent", &settings.persistent, "", "common/task.h:loader", "2",
       "keep the workers from epoch to epoch"},
      {"loader.only", &settings.loader_only, "", "common/training.cpp:loader", "3",
       "load batches and train on none of them"},
      {"loader.pin_memory", &settings.pin_memory, "", "common/task.h:loader", "4",
       "make batches in page-locked memory (GPU)"},
      {"batch.size", &settings.batch_size, "1..4096", "common/loader_options.h:loader", "18", "samples per batch"},
      {"accumulate", &settings.accumulate, "1..1024", "common/training.cpp:accumulation", "19",
       "batches per optimizer step"},
      {"amp", &settings.amp, "off|bf16|fp16", "common/training.cpp:forward", "14",
       "autocast of the forward pass; fp16 with gradient scaling"},
      {"threads", &settings.threads, "1..1024", "common/training.cpp:threads", "43", "threads of one operator"},
      {"debug", &settings.debug, "", "common/training.cpp:backward", "31",
       "autograd's anomaly detection around each backward"},
      {"optimizer", &settings.optimizer, "sgd|momentum|adam|adamw|lars|lamb|novograd",
       "common/optimizers.cpp:optimizer", "29", "the update rule"},
      {"optimizer.impl", &settings.optimizer_impl, "single|foreach|fused", "common/optimizers.cpp:step", "28",
       "one parameter at a time, lists, or one kernel"},
      {"lr", &settings.lr, "0..100", "common/training.cpp:lr", "-", "base learning rate"},
      {"lr.scale", &settings.lr_scale, "none|linear|sqrt", "common/learning_rate.cpp:scale", "46",
       "how the rate grows with samples per step over 32"},
      {"lr.find", &settings.lr_find, "", "common/training.cpp:lr search", "53",
       "look for the base rate before training, by steps of rising rates"},
      {"schedule", &settings.schedule, "constant|onecycle|cyclic|warmup-cosine", "common/learning_rate.cpp:schedule",
       "30", "learning rate over time"},
      {"schedule.epochs", &settings.schedule_epochs, "1..1000000", "common/learning_rate.cpp:schedule", "30",
       "length of the schedule, or of one cycle"},
      {"clip", &settings.clip, "none|norm|value", "common/optimizers.cpp:clip", "47", "gradient clipping"},
      {"clip.limit", &settings.clip_limit, "0..1000000", "common/optimizers.cpp:clip", "47",
       "largest norm or value of a gradient"},
      {"clip.foreach", &settings.clip_foreach, "", "common/optimizers.cpp:clip", "38",
       "clip all gradients at once, without reading the norm"},
      {"grad.set_to_none", &settings.set_to_none, "", "common/training.cpp:zero_grad", "27",
       "drop gradients between steps; off = fill them with zeros"},
      {"eval.no_grad", &settings.eval_no_grad, "", "common/training.cpp:evaluation", "33",
       "evaluate without recording a graph"},
      {"loss.detach", &settings.loss_detach, "", "common/training.cpp:running loss", "34",
       "sum up detached losses; off keeps every step's graph"},
      {"sync.defer", &settings.sync_defer, "", "common/training.cpp:loss", "6 25",
       "read the loss every log.every steps; off = at each step"},
      {"free.early", &settings.free_early, "", "common/training.cpp:batch", "35",
       "free batches and outputs before the optimizer's step; off = keep them until the log's next line"},
      {"log.every", &settings.log_every, "1..1000000", "common/training.cpp:log", "50",
       "steps between lines of the log"},
      {"log.spectra", &settings.log_spectra, "0..1000000", "common/training.cpp:log", "44",
       "steps between logs of the layers' largest spectral norm, which takes long; 0 = never"},
      {"cudnn.benchmark", &settings.cudnn_benchmark, "", "common/training.cpp:context", "10 11",
       "cuDNN autotuning (no effect on a CPU)"},
      {"tf32", &settings.tf32, "", "common/training.cpp:context", "15", "TF32 matrix products (no effect on a CPU)"},
      {"deterministic", &settings.deterministic, "", "common/training.cpp:context", "12",
       "deterministic algorithms only"},
      {"copy.non_blocking", &settings.non_blocking, "", "common/device.cpp:copy", "5",
       "copy batches to the GPU without waiting"},
      {"cache.empty", &settings.cache_empty, "", "common/training.cpp:cache", "13",
       "give the GPU's cached memory back after each optimizer step"},
      {"ddp.backend", &settings.backend, "auto|gloo|nccl", "common/rank_group.cpp:group", "51",
       "how ranks exchange tensors of GPUs; auto: NCCL where each has one, else gloo"},
      {"ddp.bucket_mb", &settings.bucket_mb, "0.001..1000", "common/data_parallel.cpp:buckets", "26",
       "MiB of gradients that ranks exchange together"},
      {"ddp.find_unused", &settings.find_unused, "", "common/data_parallel.cpp:search", "23",
       "search every step's graph for parameters without a gradient"},
      {"ddp.exchanges", &settings.exchanges, "1..10000", "common/data_parallel.cpp:exchange", "49",
       "times that ranks exchange each gradient, to imitate a slower link"},
      {"ddp.no_sync", &settings.no_sync, "", "common/training.cpp:exchange", "20",
       "exchange accumulated gradients once per optimizer step; off = in each backward pass"},
      {"sampler.distributed", &settings.distributed_sampler, "", "common/rank_sampler.h:share", "24",
       "each rank trains on its share of the samples; off = each on all"},
      {"log.rank0", &settings.log_rank0, "", "common/training.cpp:log", "50", "rank 0 alone writes the log; off = all"},
      {"log.weights", &settings.log_weights, "0..1000000", "common/training.cpp:log", "50",
       "weights that are printed with each line of the log"},
      {"ranks.slow", &settings.slow_rank, "-1..65535", "common/training.cpp:slow rank", "26",
       "a rank that is late in every batch; -1 = none"},
      {"ranks.slow_ms", &settings.slow_ms, "0..60000", "common/training.cpp:slow rank", "26", "by how much"},
      {"ranks.timeout", &settings.rank_timeout_s, "1..86400", "common/rank_group.cpp:group", "-",
       "seconds that a rank waits for the others"},
      {"step.range", &settings.step_range, "", "common/training.cpp:step", "-",
       "an NVTX range named step around each optimizer step's work"},
      {"epochs", &settings.epochs, "1..1000000", "common/training.cpp:epochs", "-", "passes over the training samples"},
      {"eval_every", &settings.eval_every, "1..1000000", "common/training.cpp:epochs", "-",
       "epochs between evaluations"},
      {"seed", &settings.seed, "0..2147483647", "common/training.cpp:seed", "-",
       "seed of weights, order and random draws"},
  };
}

Knobs::Reason CommonIdle(const CommonSettings& settings, std::string_view key) {
  constexpr std::string_view kOfGpus[] = {"loader.pin_memory", "copy.non_blocking", "copy.uint8", "copy.on_device",
                                          "cache.empty"};
  if (settings.device == "cpu" && std::ranges::find(kOfGpus, key) != std::end(kOfGpus)) {
    return "training runs on the CPU";
  }
  if (settings.workers == 0 && (key == "loader.prefetch" || key == "loader.persistent")) {
    return "the loader has no workers";
  }
  if (settings.device == "cpu" && key == "ddp.backend") return "training runs on the CPU";
  const bool of_ranks =
      (key.starts_with("ddp.") && key != "ddp.backend") || key == "sampler.distributed" || key == "log.rank0";
  if (settings.ranks == 1 && of_ranks) return "there is one rank";
  if (settings.accumulate == 1 && key == "ddp.no_sync") return "gradients are not accumulated";
  if (settings.clip == "none" && key.starts_with("clip.")) return "gradients are not clipped";
  const bool by_layer =
      settings.optimizer == "lars" || settings.optimizer == "lamb" || settings.optimizer == "novograd";
  if (by_layer && key == "optimizer.impl") return settings.optimizer + " has one implementation";
  if (settings.schedule == "constant" && key == "schedule.epochs") return "the learning rate is constant";
  return std::nullopt;
}

Knobs::Reason CommonConflict(const CommonSettings& settings, int samples, std::string_view samples_key) {
  if (settings.backend == "nccl" && settings.device == "cpu")
    return "ddp.backend=nccl needs GPUs: on the CPU ranks exchange through gloo";
  const int per_step = settings.batch_size * settings.accumulate;
  if (BatchesPerEpoch(settings, samples) >= settings.accumulate) return std::nullopt;
  const std::string shares = settings.ranks > 1 ? fmt::format(" on each of {} ranks", settings.ranks) : "";
  return fmt::format("an epoch of {} {} has no full step of batch.size x accumulate = {}{}", samples, samples_key,
                     per_step, shares);
}

}  // namespace loopscope::train
