#include "profiler/importers/shared/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace loopscope {

std::string_view PlainCall(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  if (end < name.size() && name.substr(0, end).ends_with("_v")) name = name.substr(0, end - 2);
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

bool IsSynchronizingCall(std::string_view plain_call) {
  return (plain_call.starts_with("cu") || plain_call.starts_with("hip")) && plain_call.ends_with("Synchronize");
}

std::string CollectiveOfKernel(std::string_view kernel) {
  // Template or lambda arguments may name a collective that this kernel does not run.
  kernel = kernel.substr(0, kernel.find_first_of("(<"));
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclSymDevKernel_", "ncclSymkDevKernel_", "ncclKernel_"}) {
    if (!kernel.starts_with(prefix)) continue;
    kernel.remove_prefix(prefix.size());
    return Lower(kernel.substr(0, kernel.find('_')));
  }
  if (kernel.starts_with("nccl")) return "collective";
  const std::size_t multimem = kernel.find("multimem_");
  if (multimem != kernel.npos) {
    std::string name = Lower(kernel.substr(multimem + 9));
    for (const std::string_view one : {"all_reduce", "all_gather", "reduce_scatter"}) {
      if (!name.starts_with(one)) continue;
      name.resize(one.size());
      std::erase(name, '_');
      return name;
    }
  }
  return "";
}

std::string_view NameOfCopy(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice:
      return "Memcpy HtoD";
    case CopyKind::kDeviceToHost:
      return "Memcpy DtoH";
    case CopyKind::kDeviceToDevice:
      return "Memcpy DtoD";
    case CopyKind::kHostToHost:
      return "Memcpy HtoH";
    case CopyKind::kPeer:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

namespace {

// The text after `key` up to the next comma; "" if there is no such field.
std::string_view Field(std::string_view message, std::string_view key) {
  const std::size_t at = message.find(key);
  if (at == message.npos) return "";
  message.remove_prefix(at + key.size());
  return message.substr(0, message.find(','));
}

// "[[2, 3], [], [3]]" → "other[2,3];other[];other[3]". A non-tensor input has empty sizes too.
std::string InputsOfSizes(std::string_view sizes) {
  std::string inputs;
  for (std::size_t open = sizes.find('['); open != sizes.npos; open = sizes.find('[', open + 1)) {
    const std::size_t close = sizes.find(']', open);
    if (close == sizes.npos) return inputs;
    const std::string_view one = sizes.substr(open + 1, close - open - 1);
    if (!std::ranges::all_of(one, [](char letter) { return IsDigit(letter) || letter == ',' || letter == ' '; })) {
      return inputs;
    }
    inputs += inputs.empty() ? "other[" : ";other[";
    std::ranges::copy_if(one, std::back_inserter(inputs), [](char letter) { return letter != ' '; });
    inputs += ']';
    open = close;
  }
  return inputs;
}

// Strips a number at the end, and what joins it to the name.
std::string_view WithoutNumber(std::string_view text) {
  while (!text.empty() && IsDigit(text.back())) text.remove_suffix(1);
  while (!text.empty() && std::string_view(" _#:=-").find(text.back()) != text.npos) text.remove_suffix(1);
  return text;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, text) != names.end();
}

}  // namespace

std::optional<EmittedOp> ParseEmittedOp(std::string_view message) {
  constexpr std::string_view kId = ", op_id = ", kSequence = ", seq = ", kSizes = ", sizes = [";
  const std::size_t id = message.find(kId);
  if (id == message.npos || id == 0) return std::nullopt;
  const std::string_view number = Field(message, kId);
  if (number.empty() || !std::ranges::all_of(number, IsDigit)) return std::nullopt;
  EmittedOp op;
  op.name = message.substr(0, std::min(id, message.find(kSequence)));
  const std::string_view sequence = Field(message, kSequence);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(sequence.data(), sequence.data() + sequence.size(), value);
  if (!sequence.empty() && error == std::errc()) op.sequence = static_cast<std::uint32_t>(value);
  if (const std::size_t sizes = message.find(kSizes); sizes != message.npos) {
    std::string_view list = message.substr(sizes + kSizes.size());
    list = list.substr(0, list.find(", input_op_ids"));
    op.inputs = InputsOfSizes(list);
  }
  return op;
}

RangeCategory CategoryOfRange(std::string_view message) {
  if (message.starts_with("Optimizer.step#")) return RangeCategory::kOptimizer;
  if (message.starts_with("Optimizer.zero_grad#")) return RangeCategory::kZeroGrad;
  if (message.starts_with("enumerate(DataLoader)")) return RangeCategory::kLoader;
  if (message.size() > 40) return RangeCategory::kUser;
  const std::string name = Lower(WithoutNumber(message));
  if (IsOneOf(name, {"forward", "forward pass", "forward_pass", "fwd"})) return RangeCategory::kForward;
  if (IsOneOf(name, {"backward", "backward pass", "backward_pass", "bwd", "loss.backward"})) {
    return RangeCategory::kBackward;
  }
  if (IsOneOf(name, {"optimizer", "optimizer step", "optimizer_step", "optimizer.step", "optim", "opt_step", "opt.step",
                     "optim.step", "optim_step"})) {
    return RangeCategory::kOptimizer;
  }
  if (IsOneOf(name, {"zero_grad", "zero grad", "optimizer.zero_grad"})) return RangeCategory::kZeroGrad;
  if (IsOneOf(name, {"dataloader", "data loader", "data_loader", "data loading", "data_loading", "load data",
                     "load_data", "load batch", "load_batch", "next batch", "next_batch", "get batch", "get_batch"})) {
    return RangeCategory::kLoader;
  }
  if (IsOneOf(name, {"evaluation", "evaluate", "eval", "validation", "validate"})) return RangeCategory::kEvaluation;
  return RangeCategory::kUser;
}

int StepLikeness(std::string_view message) {
  if (message.size() > 40) return 0;
  if (message == "step") return 3;
  const std::string_view stem = WithoutNumber(message);
  if (stem.size() == message.size()) return 0;
  const std::string name = Lower(stem);
  if (IsOneOf(name, {"step", "profilerstep", "train step", "train_step", "training step", "training_step",
                     "global_step", "global step"})) {
    return 3;
  }
  if (IsOneOf(name, {"iteration", "iter", "train iteration", "train_iteration", "train iter", "train_iter"})) return 2;
  return IsOneOf(name, {"batch", "train batch", "train_batch", "minibatch", "mini_batch"}) ? 1 : 0;
}

std::string_view StepStem(std::string_view message) {
  return WithoutNumber(message);
}

}  // namespace loopscope
