#include "probes/torch/inputs.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "probes/torch/api.h"

namespace loopscope {
namespace {

// Text of bounded length: the rest is cut off.
class Text {
 public:
  void Add(std::string_view text) {
    const std::size_t length = std::min(text.size(), sizeof text_ - 1 - length_);
    std::memcpy(text_ + length_, text.data(), length);
    length_ += length;
  }
  // Not by printf, which takes longer than all else that is recorded of an op, most of all where the program has a
  // library that adds formats to it.
  template <std::integral Number>
  void AddNumber(Number number) {
    char part[24];
    Add({part, static_cast<std::size_t>(std::to_chars(part, part + sizeof part, number).ptr - part)});
  }
  // As %g.
  void AddDouble(double number) {
    constexpr double kAllDigits = 100'000;
    const bool is_whole = std::abs(number) < kAllDigits && number == std::trunc(number) && !std::signbit(number);
    if (is_whole) return AddNumber(static_cast<int>(number));
    char part[32];
    Add({part, static_cast<std::size_t>(std::snprintf(part, sizeof part, "%g", number))});
  }
  const char* data() const { return text_; }
  std::size_t size() const { return length_; }

 private:
  char text_[1024];
  std::size_t length_ = 0;
};

const char* DtypeName(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Double:
      return "f64";
    case c10::ScalarType::Float:
      return "f32";
    case c10::ScalarType::Half:
      return "f16";
    case c10::ScalarType::BFloat16:
      return "bf16";
    case c10::ScalarType::Float8_e4m3fn:
    case c10::ScalarType::Float8_e5m2:
      return "f8";
    case c10::ScalarType::Long:
      return "i64";
    case c10::ScalarType::Int:
      return "i32";
    case c10::ScalarType::Short:
      return "i16";
    case c10::ScalarType::Char:
      return "i8";
    case c10::ScalarType::Byte:
      return "u8";
    case c10::ScalarType::Bool:
      return "b1";
    case c10::ScalarType::ComplexFloat:
      return "c64";
    default:
      return "other";
  }
}

// Only plain tensors have simple sizes: others compute them, or throw.
bool HasPlainSizes(const at::Tensor& tensor) {
  return !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() &&
         (tensor.layout() == c10::kStrided || tensor.layout() == c10::kMkldnn) && !tensor.is_nested();
}

void AddTensor(const at::Tensor& tensor, Text& text) {
  if (!tensor.defined()) return text.Add("-");
  text.Add(DtypeName(tensor.scalar_type()));
  text.Add("[");
  if (HasPlainSizes(tensor)) {
    bool first = true;
    for (const std::int64_t size : tensor.sizes()) {
      if (!first) text.Add(",");
      text.AddNumber(size);
      first = false;
    }
  }
  text.Add("]");
  if (!tensor.is_cpu()) {
    text.Add("@");
    text.Add(tensor.device().str());
  }
  if (!tensor.requires_grad()) return;
  text.Add("!");
  if (const std::uint32_t leaf = LeafNumber(tensor); leaf != 0) {
    text.Add("#");
    text.AddNumber(leaf);
  }
}

at::Tensor TensorIn(at::Tensor tensor) {
  return tensor;
}
at::Tensor TensorIn(const std::optional<at::Tensor>& tensor) {
  return tensor.value_or(at::Tensor());
}

// The first of a list: gradients in a bucket's collective, parameters of a multi-tensor operator.
template <class Tensor>
void AddTensors(const c10::List<Tensor>& tensors, Text& text) {
  constexpr std::size_t kMostShown = 16;
  text.Add("(");
  for (std::size_t i = 0; i < std::min(tensors.size(), kMostShown); ++i) {
    if (i > 0) text.Add(" ");
    AddTensor(TensorIn(tensors.get(i)), text);
  }
  text.Add(tensors.size() > kMostShown ? " ...)" : ")");
}

// "[1, 1]", as traces of torch.profiler have it.
void AddNumbers(const auto& numbers, Text& text) {
  text.Add("[");
  bool first = true;
  for (const auto number : numbers) {
    if (!first) text.Add(", ");
    first = false;
    text.AddNumber(static_cast<std::int64_t>(number));
  }
  text.Add("]");
}

void AddInput(const c10::IValue& input, Text& text) {
  if (input.isTensor()) return AddTensor(input.toTensor(), text);
  if (input.isTensorList()) return AddTensors(input.toTensorList(), text);
  if (input.isOptionalTensorList()) return AddTensors(input.toOptionalTensorList(), text);  // of indices
  if (input.isNone()) return text.Add("-");
  if (input.isBool()) return text.Add(input.toBool() ? "true" : "false");
  if (input.isIntList()) return AddNumbers(input.toIntVector(), text);
  if (input.isBoolList()) return AddNumbers(input.toBoolList().vec(), text);
  if (input.isInt()) return text.AddNumber(input.toInt());
  if (input.isDouble()) return text.AddDouble(input.toDouble());
  text.Add("?");
}

}  // namespace

std::uint32_t ShapeHash(const at::RecordFunction& function) {
  if (!function.needsInputs()) return 0;
  std::uint32_t hash = 2166136261u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619u; };
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const at::Tensor& tensor = input.toTensor();
    mix(static_cast<std::uint64_t>(tensor.scalar_type()) + 1);
    if (!HasPlainSizes(tensor)) continue;
    for (const std::int64_t size : tensor.sizes()) mix(static_cast<std::uint64_t>(size) + 0x100);
  }
  return hash != 0 ? hash : 1;
}

std::uint32_t InputsText(const at::RecordFunction& function) {
  Text text;
  bool first = true;
  for (const c10::IValue& input : function.inputs()) {
    if (!first) text.Add(";");
    first = false;
    AddInput(input, text);
  }
  const Padding padding = PaddingOf(function.name(), function);
  if (padding.tokens > 0) {
    text.Add(";padding=");
    text.AddNumber(padding.padded);
    text.Add("/");
    text.AddNumber(padding.tokens);
  }
  return text.size() > 0 ? api->string_id(text.data(), text.size()) : 0;
}

namespace {

void NoteUseOf(const c10::IValue& input, std::uint64_t time_ns) {
  if (!input.isTensor()) return;
  const at::Tensor& tensor = input.toTensor();
  if (!tensor.defined() || !tensor.is_cpu() || !tensor.has_storage()) return;
  api->tensor_used(tensor.storage().unsafeGetStorageImpl()->data(), time_ns);
}

}  // namespace

void NoteUse(const at::RecordFunction& function, std::uint64_t time_ns) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isList()) {
      NoteUseOf(input, time_ns);
      continue;
    }
    for (const c10::IValue& element : input.toListRef()) NoteUseOf(element, time_ns);
  }
}

}  // namespace loopscope
