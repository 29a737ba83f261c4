#include "workloads/train_image/knobs.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <type_traits>

namespace loopscope::train_image {
namespace {

using S = Settings;

const Knob kKnobs[] = {
    {"loader.workers", &S::workers, "0..64", "training.cpp:loader", "1 2 52",
     "threads that decode images; 0 = the training thread does it"},
    {"loader.prefetch", &S::prefetch, "1..64", "training.cpp:loader", "1", "batches each worker prepares ahead"},
    {"loader.persistent", &S::persistent, "", "training.cpp:loader", "2", "keep the workers from epoch to epoch"},
    {"loader.from_numpy", &S::from_numpy, "", "training.cpp:batch", "8",
     "train on the loader's own buffer; off = copy each batch three times"},
    {"aug", &S::augment, "", "augment.cpp:crop", "-", "random crop, scale and flip of training images"},
    {"batch.size", &S::batch_size, "1..4096", "training.cpp:loader", "18", "images per batch"},
    {"accumulate", &S::accumulate, "1..1024", "training.cpp:accumulation", "19", "batches per optimizer step"},
    {"amp", &S::amp, "off|bf16", "training.cpp:forward", "14", "autocast of the forward pass"},
    {"channels_last", &S::channels_last, "", "model.cpp:layout", "16", "NHWC layout of images and convolution weights"},
    {"threads", &S::threads, "1..1024", "training.cpp:threads", "43", "threads of one operator"},
    {"debug", &S::debug, "", "training.cpp:backward", "31", "autograd's anomaly detection around each backward"},
    {"model.size", &S::model_size, "small|medium|large", "model.cpp:layers", "48", "width of the layers"},
    {"norm", &S::norm, "none|batch", "model.cpp:norm", "39", "batch norm after each convolution"},
    {"bias.before_norm", &S::bias_before_norm, "", "model.cpp:bias", "32",
     "biases that the batch norm behind them cancels"},
    {"relu.inplace", &S::relu_inplace, "", "model.cpp:relu", "36", "ReLU overwrites its input"},
    {"checkpoint", &S::checkpoint, "", "model.cpp:blocks", "37", "recompute the residual blocks in backward"},
    {"optimizer", &S::optimizer, "sgd|momentum|adam|adamw", "optimizers.cpp:optimizer", "29", "the update rule"},
    {"optimizer.impl", &S::optimizer_impl, "single|foreach|fused", "optimizers.cpp:step", "28",
     "one parameter at a time, lists, or one kernel"},
    {"lr", &S::lr, "0..100", "training.cpp:lr", "-", "base learning rate"},
    {"lr.scale", &S::lr_scale, "none|linear|sqrt", "schedule.cpp:scale", "46",
     "how the rate grows with samples per step over 32"},
    {"schedule", &S::schedule, "constant|onecycle|cyclic|warmup-cosine", "schedule.cpp:schedule", "30",
     "learning rate over time"},
    {"schedule.epochs", &S::schedule_epochs, "1..1000000", "schedule.cpp:schedule", "30",
     "length of the schedule, or of one cycle"},
    {"clip", &S::clip, "none|norm|value", "optimizers.cpp:clip", "47", "gradient clipping"},
    {"clip.limit", &S::clip_limit, "0..1000000", "optimizers.cpp:clip", "47", "largest norm or value of a gradient"},
    {"clip.foreach", &S::clip_foreach, "", "optimizers.cpp:clip", "38",
     "clip all gradients at once, without reading the norm"},
    {"grad.set_to_none", &S::set_to_none, "", "training.cpp:zero_grad", "27",
     "drop gradients between steps; off = fill them with zeros"},
    {"eval.no_grad", &S::eval_no_grad, "", "training.cpp:evaluation", "33", "evaluate without recording a graph"},
    {"loss.detach", &S::loss_detach, "", "training.cpp:running loss", "34",
     "sum up detached losses; off keeps every step's graph"},
    {"sync.defer", &S::sync_defer, "", "training.cpp:loss", "6 25",
     "read the loss every log.every steps; off = at each step"},
    {"free.early", &S::free_early, "", "training.cpp:batch", "35",
     "free the batch and the outputs before the optimizer's step"},
    {"log.every", &S::log_every, "1..1000000", "training.cpp:log", "50", "steps between lines of the log"},
    {"cudnn.benchmark", &S::cudnn_benchmark, "", "training.cpp:context", "10 11",
     "cuDNN autotuning (no effect on a CPU)"},
    {"tf32", &S::tf32, "", "training.cpp:context", "15", "TF32 matrix products (no effect on a CPU)"},
    {"deterministic", &S::deterministic, "", "training.cpp:context", "12", "deterministic algorithms only"},
    {"step.range", &S::step_range, "", "training.cpp:step", "-",
     "an NVTX range named step around each optimizer step's work"},
    {"epochs", &S::epochs, "1..1000000", "training.cpp:epochs", "-", "passes over the training images"},
    {"eval_every", &S::eval_every, "1..1000000", "training.cpp:epochs", "-", "epochs between evaluations"},
    {"train_images", &S::train_images, "10..100000", "data_set.cpp:train", "-", "training images on disk"},
    {"val_images", &S::val_images, "10..100000", "data_set.cpp:val", "-", "validation images on disk"},
    {"source_size", &S::source_size, "32..1024", "data_set.cpp:train", "-",
     "edge of the training images on disk, in pixels"},
    {"image_size", &S::image_size, "32..512", "augment.cpp:crop", "-", "edge of the network's input, in pixels"},
    {"seed", &S::seed, "0..2147483647", "training.cpp:seed", "-", "seed of weights, order and augmentation"},
};

std::string_view Trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class Number>
std::optional<Number> Parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool InRange(double value, std::string_view range) {
  const auto dots = range.find("..");
  return value >= *Parse<double>(range.substr(0, dots)) && value <= *Parse<double>(range.substr(dots + 2));
}

bool IsChoice(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const auto choice = choices.substr(0, choices.find('|'));
    if (value == choice) return true;
    choices.remove_prefix(std::min(choices.size(), choice.size() + 1));
  }
  return false;
}

template <class Value>
std::optional<Value> Read(std::string_view text, std::string_view choices) {
  if constexpr (std::is_same_v<Value, bool>) {
    if (text == "on" || text == "off") return text == "on";
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (IsChoice(text, choices)) return std::string(text);
  } else if (const auto number = Parse<Value>(text); number && InRange(double(*number), choices)) {
    return number;
  }
  return std::nullopt;
}

template <class Value>
std::string Show(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "on" : "off";
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace

std::span<const Knob> Knobs() {
  return kKnobs;
}

const Knob* FindKnob(std::string_view key) {
  for (const Knob& knob : kKnobs) {
    if (knob.key == key) return &knob;
  }
  return nullptr;
}

std::string ValueOf(const Settings& settings, const Knob& knob) {
  return std::visit([&](auto member) { return Show(settings.*member); }, knob.member);
}

std::string_view ValuesOf(const Knob& knob) {
  return knob.choices.empty() ? "on|off" : knob.choices;
}

std::optional<std::string> Assign(Settings& settings, const Knob& knob, std::string_view value) {
  const bool good = std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(settings.*member)>;
        const auto read = Read<Value>(value, knob.choices);
        if (read) settings.*member = *read;
        return read.has_value();
      },
      knob.member);
  if (good) return std::nullopt;
  return fmt::format("\"{}\" is no value of {}: it takes {}", value, knob.key, ValuesOf(knob));
}

std::optional<std::string> AssignItem(Settings& settings, std::string_view item) {
  const auto equals = item.find('=');
  if (equals == item.npos) return fmt::format("\"{}\" is not of the form key=value", item);
  const std::string_view key = Trimmed(item.substr(0, equals));
  const Knob* knob = FindKnob(key);
  if (!knob) return fmt::format("there is no knob \"{}\": --list-knobs prints all of them", key);
  return Assign(settings, *knob, Trimmed(item.substr(equals + 1)));
}

std::optional<std::string> Conflict(const Settings& settings) {
  const int samples = settings.batch_size * settings.accumulate;
  if (samples > settings.train_images) {
    return fmt::format("an epoch of {} train_images has no full step of batch.size x accumulate = {}",
                       settings.train_images, samples);
  }
  return std::nullopt;
}

std::string DescribeKnobs() {
  const Settings defaults;
  std::string text = fmt::format("{:<18} {:<38} {:<8} {:<8} {}\n", "knob", "values", "default", "tricks", "meaning");
  for (const Knob& knob : kKnobs) {
    fmt::format_to(std::back_inserter(text), "{:<18} {:<38} {:<8} {:<8} {}\n", knob.key, ValuesOf(knob),
                   ValueOf(defaults, knob), knob.rows, knob.meaning);
  }
  return text;
}

}  // namespace loopscope::train_image
