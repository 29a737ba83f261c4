#include "workloads/train_text/settings.h"

#include "workloads/common/knobs/common_knobs.h"

namespace loopscope::train::text {

Knobs KnobsOf(Settings& settings) {
  std::vector<Knob> knobs = CommonKnobs(settings);
  const std::vector<Knob> own = {
      {"seq.max_len", &settings.max_len, "8..1024", "train_text/texts.cpp:cut", "40", "tokens kept of a text"},
      {"batch.by_length", &settings.by_length, "", "train_text/batches.cpp:order", "40",
       "texts of similar length share a batch"},
      {"batch.pad", &settings.pad, "longest|max_len", "train_text/batches.cpp:pad", "40",
       "how far the texts of a batch are padded"},
      {"dropout", &settings.dropout, "0..0.9", "train_text/layers.cpp:dropout", "-", "share of activations dropped"},
      {"model.size", &settings.model_size, "small|medium|large", "train_text/model.cpp:layers", "48",
       "width and number of the layers"},
      {"relu.inplace", &settings.relu_inplace, "", "train_text/layers.cpp:relu", "36", "ReLU overwrites its input"},
      {"checkpoint", &settings.checkpoint, "", "train_text/model.cpp:layers", "37",
       "recompute the encoder's layers in backward"},
      {"train_texts", &settings.train_texts, "10..1000000", "train_text/texts.cpp:train", "-", "texts to train on"},
      {"val_texts", &settings.val_texts, "10..1000000", "train_text/texts.cpp:val", "-", "texts to validate on"},
      {"vocabulary", &settings.vocabulary, "64..65536", "train_text/texts.cpp:words", "-", "different tokens"},
      {"longest", &settings.longest, "16..1024", "train_text/texts.cpp:words", "-", "tokens in the longest text"},
  };
  knobs.insert(knobs.end(), own.begin(), own.end());
  const auto idle = [&settings](std::string_view key) -> Knobs::Reason {
    if (settings.max_len > settings.longest && key == "seq.max_len") return "no text is that long";
    return CommonIdle(settings, key);
  };
  const auto conflict = [&settings] { return CommonConflict(settings, settings.train_texts, "train_texts"); };
  return {std::move(knobs), conflict, idle};
}

}  // namespace loopscope::train::text
