// What changes the training itself: only `--only` and `prove --target` ask for most of them.
#include "profiler/core/treatment.h"

namespace loopscope {

extern const Treatment kBatchSize{
    .id = "batch.size",
    .summary = "train in batches of N, with the learning rate scaled by the same factor",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kSampleTime,
    .cures = {"small-batch"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    // the user knows which sizes fit: --only batch.size=128
};

extern const Treatment kAccumulate{
    .id = "accumulate",
    .summary = "step the optimizer after every N backward passes",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kSampleTime,
    .cures = {"memory-bound-batch"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    // the number is for the user to choose: --only accumulate=4
};

extern const Treatment kBatchByLength{
    .id = "batch.by_length",
    .summary = "put texts of about one length into the same batch",
    .exactness = Exactness::kChangesTraining,
    .cures = {"padding-waste"},
    .appliers = {"python", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kSeqMaxLen{
    .id = "seq.max_len",
    .summary = "cut texts after N tokens",
    .exactness = Exactness::kChangesTraining,
    .appliers = {"knob:train_text"},
    // the user knows how much can be cut: --only seq.max_len=64
};

extern const Treatment kOptimizerRule{
    .id = "optimizer",
    .summary = "another update rule: sgd, momentum, adam, adamw, lars, lamb, novograd",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    // the value is for the user to choose: --only optimizer=VALUE
};

extern const Treatment kSchedule{
    .id = "schedule",
    .summary = "a learning rate that changes over time: onecycle, cyclic, warmup-cosine",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"onecycle"},
};

extern const Treatment kLrScale{
    .id = "lr.scale",
    .summary = "a learning rate that grows with the samples per step: linear, sqrt",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"knob:train_image", "knob:train_text"},
    .values = {"linear"},
};

extern const Treatment kLrFind{
    .id = "lr.find",
    .summary = "look for a learning rate before training, by a run of rising rates",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"knob:train_image", "knob:train_text"},
    .values = {"on"},
    .is_switch = true,
};

extern const Treatment kClip{
    .id = "clip",
    .summary = "clip gradients by their norm or their values",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"norm"},
};

extern const Treatment kNormBatch{
    .id = "norm",
    .summary = "batch norm after each convolution, or none",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"knob:train_image"},
    .values = {"batch"},
};

extern const Treatment kModelSize{
    .id = "model.size",
    .summary = "a smaller or larger network",
    .exactness = Exactness::kChangesTraining,
    .metric = Metric::kTimeToTarget,
    .appliers = {"knob:train_image", "knob:train_text"},
    // the value is for the user to choose: --only model.size=VALUE
};

}  // namespace loopscope
