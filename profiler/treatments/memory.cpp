// What is kept in memory, and for how long.
#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

constexpr EnvironmentVariable kAllocExpandableVariables[] = {
    {.name = "PYTORCH_CUDA_ALLOC_CONF", .newer_name = "PYTORCH_ALLOC_CONF", .item = "expandable_segments"}};

std::vector<std::string> CheckpointValues(const Finding& finding, const Host&) {
  return {finding.rule == "needless-recompute" ? "off" : "on"};
}

}  // namespace

extern const Treatment kEvalNoGrad{
    .id = "eval.no_grad",
    .summary = "evaluate without recording a graph",
    .exactness = Exactness::kExactIf,
    .condition = "no operator takes a fused path that exists only without a graph",
    .metric = Metric::kEpochBoundary,
    .cures = {"grad-in-eval"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kLossDetach{
    .id = "loss.detach",
    .summary = "accumulate the loss without the graph that made it",
    .exactness = Exactness::kExact,
    .metric = Metric::kPeakMemory,
    .cures = {"graph-retained"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kFreeEarly{
    .id = "free.early",
    .summary = "free the batch and the outputs once they were used",
    .exactness = Exactness::kExact,
    .metric = Metric::kPeakMemory,
    .cures = {"late-free"},
    .appliers = {"knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kReluInplace{
    .id = "relu.inplace",
    .summary = "let ReLU layers overwrite their input",
    .exactness = Exactness::kExact,
    .metric = Metric::kPeakMemory,
    .cures = {"activation-memory"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kCheckpoint{
    .id = "checkpoint",
    .summary = "keep activations, or compute them again in the backward pass",
    .exactness = Exactness::kExactIf,
    .condition = "no batch norm inside of what is recomputed",
    .cures = {"needless-recompute"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .choose = CheckpointValues,
    .is_switch = true,
};

extern const Treatment kCacheEmpty{
    .id = "cache.empty",
    .summary = "leave the device's memory cache alone between steps",
    .exactness = Exactness::kExact,
    .cures = {"cache-emptied"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"off"},
    .needs_gpu = true,
    .live = true,
    .is_switch = true,
};

extern const Treatment kAllocExpandable{
    .id = "alloc.expandable",
    .summary = "let the device allocator grow its blocks, so that memory does not fall apart",
    .exactness = Exactness::kExact,
    .cures = {"allocator-retries"},
    .appliers = {"environment"},
    .values = {"on"},
    .needs_gpu = true,
    .is_switch = true,
    .environment = kAllocExpandableVariables,
};

}  // namespace loopscope
