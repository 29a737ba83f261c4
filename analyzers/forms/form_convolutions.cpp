// Convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/forms/form.h"

namespace loopscope {
namespace {

bool AllOne(Sizes sizes) {
  return std::ranges::all_of(sizes, [](std::int64_t size) { return size == 1; });
}

bool AllZero(Sizes sizes) {
  return std::ranges::all_of(sizes, [](std::int64_t size) { return size == 0; });
}

// A convolution's settings, input;weight;bias;stride;padding;dilation;groups, where they are numbers.
struct Settings {
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups = 0;
};

std::optional<Settings> SettingsOf(const Call& call) {
  if (call.inputs.size() < 7) return std::nullopt;
  Settings found{NumbersOf(call, 3), NumbersOf(call, 4), NumbersOf(call, 5),
                 static_cast<std::int64_t>(call.number(6).value_or(0))};
  if (found.stride.empty() || found.padding.empty() || found.dilation.empty()) return std::nullopt;
  return found;
}

std::optional<Match> KernelOfOne(const StepCalls& calls, std::uint32_t at) {
  const auto settings = SettingsOf(calls[at]);
  const auto weight = calls[at].sizes(1);
  if (!settings || weight.size() < 3 || !AllOne(weight.subspan(2))) return std::nullopt;
  if (!AllOne(settings->stride) || !AllZero(settings->padding) || settings->groups != 1) return std::nullopt;
  return Match{calls[at].text, {at}};
}

std::optional<Match> Layout(const StepCalls& calls, std::uint32_t at) {
  const Call& call = calls[at];
  const auto input = call.sizes(0), weight = call.sizes(1);
  if (input.size() != 4 || weight.size() != 4 || input[1] < 8 || AllOne(weight.subspan(2))) return std::nullopt;
  return Match{call.text, {at}};
}

// Patches as columns, times a matrix.
std::optional<Match> Unfolded(const StepCalls& calls, std::uint32_t at) {
  constexpr std::uint32_t kMostBetween = 8;
  const auto input = calls[at].sizes(0);
  if (input.size() != 4) return std::nullopt;
  for (std::uint32_t i = at + 1; i < std::min<std::size_t>(at + kMostBetween, calls.all().size()); ++i) {
    if (!IsOneOf(calls[i].name, "matmul bmm einsum linear") || calls[i].step != calls[at].step) continue;
    return Match{fmt::format("{}|{}", calls[at].text, calls[i].text), {at, i}};
  }
  return std::nullopt;
}

// By a Fourier transform the length of the kernel costs nothing.
std::optional<Match> LongKernel(const StepCalls& calls, std::uint32_t at) {
  constexpr std::int64_t kLong = 128;
  const auto settings = SettingsOf(calls[at]);
  const auto input = calls[at].sizes(0), weight = calls[at].sizes(1);
  if (!settings || input.size() != 3 || weight.size() != 3 || weight[2] < kLong) return std::nullopt;
  const bool each_alone = settings->groups == input[1] && weight[0] == input[1];
  if (!AllOne(settings->stride) || !AllOne(settings->dilation) || (settings->groups != 1 && !each_alone)) {
    return std::nullopt;
  }
  return Match{calls[at].text, {at}};
}

// Patches that do not overlap and cover the picture are rows of a matrix.
std::optional<Match> Patches(const StepCalls& calls, std::uint32_t at) {
  const auto settings = SettingsOf(calls[at]);
  const auto input = calls[at].sizes(0), weight = calls[at].sizes(1);
  if (!settings || input.size() != 4 || weight.size() != 4 || settings->groups != 1) return std::nullopt;
  const auto kernel = weight.subspan(2), picture = input.subspan(2);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] < 2 || settings->stride[i % settings->stride.size()] != kernel[i]) return std::nullopt;
    if (picture[i] % kernel[i] != 0) return std::nullopt;
  }
  if (!AllZero(settings->padding) || !AllOne(settings->dilation)) return std::nullopt;
  return Match{calls[at].text, {at}};
}

constexpr std::array<Form, 5> kConvolutionForms{{
    {.id = "kernel-of-one",
     .slow = "a convolution has a kernel of one",
     .better = "a matrix product",
     .fix = "Use torch.nn.Linear with the channels last, or torch.matmul(weight, input).",
     .anchor = "conv1d conv2d conv3d",
     .match = KernelOfOne},
    {.id = "channels-first",
     .slow = "convolutions run with their channels first",
     .better = "channels last",
     .fix = "Convert the model and its input: model.to(memory_format=torch.channels_last), "
            "images.to(memory_format=torch.channels_last).",
     .anchor = "conv2d",
     .match = Layout},
    {.id = "unfolded-convolution",
     .slow = "a convolution is written out as unfold and a product",
     .better = "conv2d",
     .fix = "Call torch.nn.functional.conv2d with the weights as [out, in, height, width].",
     .anchor = "im2col",
     .match = Unfolded},
    {.id = "long-kernel",
     .slow = "a convolution has a kernel of hundreds of numbers",
     .better = "a product of Fourier transforms",
     .fix = "Multiply transforms: torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(weight, n).conj(), n), summed "
            "over the input's channels, n the padded length.",
     .anchor = "conv1d",
     .match = LongKernel},
    {.id = "kernel-equals-stride",
     .slow = "a convolution takes patches that do not overlap",
     .better = "a reshape and a matrix product",
     .fix = "Reshape the picture into patches and call torch.nn.functional.linear(patches, weight.flatten(1), bias).",
     .anchor = "conv2d",
     .match = Patches},
}};

}  // namespace

std::span<const Form> ConvolutionForms() {
  return kConvolutionForms;
}

}  // namespace loopscope
