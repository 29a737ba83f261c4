// What ranks exchange.
#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

std::vector<std::string> DdpBackendValues(const Finding&, const Host& host) {
  // NCCL refuses two ranks on one GPU.
  if (host.gpus.size() < 2) return {};
  return {"nccl"};
}

}  // namespace

extern const Treatment kSamplerDistributed{
    .id = "sampler.distributed",
    .summary = "give every rank its own share of the samples",
    .exactness = Exactness::kChangesTraining,
    .cures = {"duplicated-data"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kDdpFindUnused{
    .id = "ddp.find_unused",
    .summary = "do not search the graph for unused parameters in every step",
    .exactness = Exactness::kExact,
    .cures = {"unused-parameter-search"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"off"},
    .is_switch = true,
};

extern const Treatment kDdpNoSync{
    .id = "ddp.no_sync",
    .summary = "exchange gradients once per optimizer step while they are accumulated",
    .exactness = Exactness::kNumeric,
    .cures = {"accumulation-allreduce"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kDdpBucketMb{
    .id = "ddp.bucket_mb",
    .summary = "exchange gradients in buckets of N MiB",
    .exactness = Exactness::kNumeric,
    .cures = {"exposed-communication"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    // Fewer and longer exchanges where each costs a round trip, or earlier ones where the last one is waited for.
    .values = {"100", "5"},
};

extern const Treatment kDdpBackend{
    .id = "ddp.backend",
    .summary = "exchange the device's tensors through NCCL",
    .exactness = Exactness::kNumeric,
    .cures = {"slow-backend"},
    .appliers = {"python"},
    .choose = DdpBackendValues,
};

extern const Treatment kFsdpReshard{
    .id = "fsdp.reshard",
    .summary = "keep gathered parameters from the forward to the backward pass",
    .exactness = Exactness::kExact,
    .cures = {"needless-resharding"},
    .appliers = {"python"},
    .values = {"off"},
    .is_switch = true,
};

}  // namespace loopscope
