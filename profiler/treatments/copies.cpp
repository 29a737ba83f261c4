// Copies to the device, and waits for it.
#include "profiler/core/treatment.h"

namespace loopscope {
namespace {

std::vector<std::string> SyncDeferValues(const Finding& finding, const Host& host) {
  // On a CPU nothing runs ahead of the host: the only wait to save is that for other ranks.
  if (host.gpus.empty() && finding.rule != "loss-reduction") return {};
  return {"on"};
}

}  // namespace

extern const Treatment kCopyNonBlocking{
    .id = "copy.non_blocking",
    .summary = "copy page-locked batches to the device without holding up the host",
    .exactness = Exactness::kExact,
    .cures = {"blocking-copy"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .needs_gpu = true,
    .live = true,
    .is_switch = true,
};

extern const Treatment kCopyOnDevice{
    .id = "copy.on_device",
    .summary = "draw random numbers and fill tensors on the device that uses them",
    .exactness = Exactness::kNumeric,
    .cures = {"cpu-then-device"},
    .appliers = {"knob:train_image"},
    .values = {"on"},
    .needs_gpu = true,
    .is_switch = true,
};

extern const Treatment kCopyUint8{
    .id = "copy.uint8",
    .summary = "copy 8-bit data to the device as it is and widen it there",
    .exactness = Exactness::kNumeric,
    .cures = {"wide-input"},
    .appliers = {"knob:train_image"},
    .values = {"on"},
    .needs_gpu = true,
    .is_switch = true,
};

extern const Treatment kSyncDefer{
    .id = "sync.defer",
    .summary = "read a logged value one step late, so that nothing waits for it",
    .exactness = Exactness::kExact,
    .cures = {"host-sync", "loss-reduction"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .choose = SyncDeferValues,
    .is_switch = true,
};

}  // namespace loopscope
