// What the loader does otherwise.
#include <algorithm>

#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr int kMostWorkers = 16;

std::vector<std::string> LoaderWorkersValues(const Finding&, const Host& host) {
  // Launches search for the optimum. One worker per core keeps up most often, and more only compete for the cores; no
  // loader was seen to gain from more than 16.
  std::vector<std::string> values;
  for (int workers = std::clamp(host.cores, 1, kMostWorkers); workers > 0; workers /= 2) {
    values.push_back(std::to_string(workers));
  }
  return values;
}

// input-starvation names it where the samples are known to be rows of tensors.
std::vector<std::string> LoaderRowsValues(const Finding& finding, const Host&) {
  if (finding.treatment_id != "loader.rows") return {};
  return {"batch"};
}

}  // namespace

extern const Treatment kLoaderWorkers{
    .id = "loader.workers",
    .summary = "load batches in N workers beside the training thread",
    .exactness = Exactness::kResampled,
    .cures = {"input-starvation", "too-many-workers"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .choose = LoaderWorkersValues,
    .run_ahead = RunAheadFactor::kWorkers,
};

extern const Treatment kLoaderPrefetch{
    .id = "loader.prefetch",
    .summary = "let each worker keep N batches ready",
    .exactness = Exactness::kExact,
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"4", "8"},
    .run_ahead = RunAheadFactor::kPrefetch,
};

extern const Treatment kLoaderPersistent{
    .id = "loader.persistent",
    .summary = "keep the loader's workers from one epoch to the next",
    .exactness = Exactness::kResampled,
    .metric = Metric::kEpochBoundary,
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kLoaderPinMemory{
    .id = "loader.pin_memory",
    .summary = "give batches in page-locked memory, from where a device copies faster",
    .exactness = Exactness::kExact,
    .cures = {"pageable-copy"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on", "off"},
    .needs_gpu = true,
    .is_switch = true,
};

extern const Treatment kLoaderRows{
    .id = "loader.rows",
    .summary = "fetch rows of tensors in memory a batch at a time",
    .exactness = Exactness::kExact,
    .appliers = {"python"},
    .choose = LoaderRowsValues,
};

extern const Treatment kLoaderFromNumpy{
    .id = "loader.from_numpy",
    .summary = "use the decoded buffer as the batch instead of a copy of it",
    .exactness = Exactness::kExact,
    .cures = {"needless-copy"},
    .appliers = {"knob:train_image"},
    .values = {"on"},
    .is_switch = true,
};

}  // namespace loopscope
