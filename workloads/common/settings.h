// The settings that knobs can change in every training program here, with shared defaults.
#pragma once

#include <string>

namespace loopscope::train {

struct CommonSettings {
  std::string device = "cpu";
  bool pin_memory = false;
  bool non_blocking = false;
  bool copy_uint8 = false;
  bool on_device = false;
  bool cache_empty = false;
  bool cuda_graphs = false;
  bool data_parallel = false;

  int workers = 1;
  int prefetch = 2;  // batches per worker
  bool persistent = true;
  bool loader_only = false;

  int batch_size = 32;
  int accumulate = 1;
  int epochs = 1000;
  int eval_every = 1;   // epochs
  int log_every = 10;   // steps
  int log_spectra = 0;  // steps; 0: never
  int seed = 1;

  std::string model_size = "medium";
  bool relu_inplace = false;
  bool checkpoint = false;
  std::string amp = "off";

  std::string optimizer = "adamw";
  std::string optimizer_impl = "single";
  double lr = 0.001;
  std::string lr_scale = "none";
  bool lr_find = false;
  std::string schedule = "constant";
  int schedule_epochs = 10;
  std::string clip = "none";
  double clip_limit = 1.0;
  bool clip_foreach = true;
  bool set_to_none = true;

  bool eval_no_grad = true;
  bool loss_detach = true;
  bool sync_defer = true;
  bool free_early = true;
  bool debug = false;
  bool step_range = false;

  int threads = 1;
  bool cudnn_benchmark = false;
  bool tf32 = false;
  bool deterministic = false;

  // For several ranks that train together. Which one this is, and how many there are, is not a knob: the launcher
  // decides.
  int rank = 0, ranks = 1;
  std::string backend = "auto";
  double bucket_mb = 25;
  bool find_unused = false;
  int exchanges = 1;
  bool no_sync = true;
  bool distributed_sampler = true;
  bool log_rank0 = true;
  int log_weights = 0;
  int slow_rank = -1;  // -1: none
  double slow_ms = 10;
  int rank_timeout_s = 60;
};

// The batches of an epoch on one rank, when each trains on its own share of the samples or all on all of them.
inline long BatchesPerEpoch(const CommonSettings& settings, long samples) {
  const long share = settings.distributed_sampler ? (samples + settings.ranks - 1) / settings.ranks : samples;
  return share / settings.batch_size;
}

}  // namespace loopscope::train
