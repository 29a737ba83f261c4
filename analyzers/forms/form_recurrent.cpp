// Recurrent layers, and tensors that grow step by step.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"
#include "profiler/core/trace/inputs.h"

namespace loopscope {
namespace {

constexpr std::size_t kFewestCalls = 8;

// The layers' second argument is then the number of sequences at each time step.
std::optional<Match> Packed(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const bool packed = call.sizes(0).size() == 2 && call.sizes(1).size() == 1 && call.inputs[1].dtype == "i64";
  if (!packed) return std::nullopt;
  // Packing and unpacking around it.
  Match match{fmt::format("{}|{}", call.name, call.text), {at}};
  for (const Calls& way :
       {Up(calls, at, "", "_pack_padded_sequence"), Down(calls, at, "getitem", "_pad_packed_sequence")}) {
    match.calls.insert(match.calls.end(), way.begin(), way.end());
  }
  return match;
}

std::optional<Match> Cells(const StepCalls& calls, std::uint32_t at) {
  const Calls all = Repeated(calls, at, true);
  if (all.size() < kFewestCalls) return std::nullopt;
  return Match{fmt::format("{}|{}|{}", all.size(), calls[at].name, calls[at].text), all};
}

double FirstElements(const Call& call) {
  if (call.inputs.empty()) return 0;
  const std::vector<TensorText> list = ParseTensorList(call.inputs[0].scalar);
  return list.size() == 2 ? static_cast<double>(list[0].elements()) : 0;
}

// Each call appends to what the one before it made.
std::optional<Match> Growing(const StepCalls& calls, std::uint32_t at) {
  const Calls all = Repeated(calls, at, false);
  if (all.size() < kFewestCalls) return std::nullopt;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (FirstElements(calls[all[i]]) <= FirstElements(calls[all[i - 1]])) return std::nullopt;
  }
  return Match{fmt::format("{}|{}", all.size(), calls[all.back()].text), all};
}

constexpr std::array<Form, 3> kRecurrentForms{{
    {.id = "packed-sequences",
     .slow = "packed sequences take a recurrent layer's slow path",
     .better = "the layer on padded sequences",
     .fix = "Give the layer the padded batch and take the outputs at each sequence's end (or mask them): its fast "
            "path needs sequences of one length. Batches of like lengths keep the padding small.",
     .anchor = "lstm gru rnn_tanh rnn_relu",
     .match = Packed},
    {.id = "cell-by-cell",
     .slow = "a recurrent cell is called for each time step",
     .better = "the layer over the whole sequence",
     .fix = "Use torch.nn.LSTM, GRU or RNN over the whole sequence where all inputs are known before the loop.",
     .anchor = "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
     .match = Cells},
    {.id = "growing-cat",
     .slow = "a tensor grows by torch.cat in a loop, and is copied each time",
     .better = "a list and one torch.cat",
     .fix = "Collect the parts in a list and join them once, after the loop.",
     .anchor = "cat",
     .match = Growing},
}};

}  // namespace

std::span<const Form> RecurrentForms() {
  return kRecurrentForms;
}

}  // namespace loopscope
