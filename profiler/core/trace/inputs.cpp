#include "profiler/core/trace/inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace loopscope {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 13> kDtypes{{{"f64", 8},
                                                                    {"f32", 4},
                                                                    {"f16", 2},
                                                                    {"bf16", 2},
                                                                    {"f8", 1},
                                                                    {"i64", 8},
                                                                    {"i32", 4},
                                                                    {"i16", 2},
                                                                    {"i8", 1},
                                                                    {"u8", 1},
                                                                    {"b1", 1},
                                                                    {"c64", 8},
                                                                    {"other", 0}}};

constexpr std::string_view kPadding = ";padding=";  // after the inputs

const std::pair<std::string_view, int>* FindDtype(std::string_view name) {
  for (const auto& one : kDtypes) {
    if (one.first == name) return &one;
  }
  return nullptr;
}

// "32,3,48,48" or "" → sizes; false for anything else.
bool ParseSizes(std::string_view text, std::vector<std::int64_t>& sizes) {
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return false;
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text.front() != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return true;
}

// dtype[sizes], then "@device", "!" and "#leaf" where they apply.
bool ParseTensor(std::string_view text, TensorText& tensor) {
  const std::size_t open = text.find('[');
  if (open == text.npos || !FindDtype(text.substr(0, open))) return false;
  const std::size_t close = text.find(']', open);
  if (close == text.npos || !ParseSizes(text.substr(open + 1, close - open - 1), tensor.sizes)) return false;
  std::string_view tail = text.substr(close + 1);
  if (const std::size_t number = tail.rfind("!#"); number != tail.npos) {
    const auto [end, error] = std::from_chars(tail.data() + number + 2, tail.data() + tail.size(), tensor.leaf);
    if (error != std::errc() || end != tail.data() + tail.size()) return false;
    tail = tail.substr(0, number + 1);
  }
  if (tail.ends_with('!')) {
    tensor.requires_grad = true;
    tail.remove_suffix(1);
  }
  if (tail.starts_with('@')) {
    tensor.device = tail.substr(1);
    tail = {};
  }
  tensor.dtype = text.substr(0, open);
  return tail.empty();
}

TensorText ParseInput(std::string_view text) {
  TensorText input;
  if (text == "-") {
    input.is_tensor = true;
    return input;
  }
  if (ParseTensor(text, input)) {
    input.is_tensor = input.defined = true;
    return input;
  }
  TensorText scalar;
  scalar.scalar = text;
  scalar.defined = text != "?";
  return scalar;
}

}  // namespace

std::int64_t TensorText::elements() const {
  if (!is_tensor || !defined) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) return INT64_MAX;
  }
  return product;
}

std::int64_t TensorText::bytes() const {
  const auto* known = FindDtype(dtype);
  std::int64_t total = 0;
  if (known == nullptr || __builtin_mul_overflow(elements(), std::int64_t{known->second}, &total))
    return known != nullptr ? INT64_MAX : 0;
  return total;
}

std::optional<PaddedTokens> ParsePadding(std::string_view inputs) {
  const std::size_t at = inputs.rfind(kPadding);
  if (at == inputs.npos) return std::nullopt;
  inputs.remove_prefix(at + kPadding.size());
  PaddedTokens told;
  const char* end = inputs.data() + inputs.size();
  const auto [slash, bad_count] = std::from_chars(inputs.data(), end, told.padded);
  if (bad_count != std::errc() || slash == end || *slash != '/') return std::nullopt;
  const auto [rest, bad_total] = std::from_chars(slash + 1, end, told.tokens);
  if (bad_total != std::errc() || rest != end || told.padded > told.tokens) return std::nullopt;
  return told;
}

std::vector<TensorText> ParseInputs(std::string_view inputs) {
  inputs = inputs.substr(0, inputs.rfind(kPadding));
  std::vector<TensorText> parsed;
  while (!inputs.empty()) {
    const std::size_t end = std::min(inputs.find(';'), inputs.size());
    parsed.push_back(ParseInput(inputs.substr(0, end)));
    if (end + 1 == inputs.size()) parsed.push_back(ParseInput({}));
    inputs.remove_prefix(std::min(end + 1, inputs.size()));
  }
  return parsed;
}

std::vector<TensorText> ParseTensorList(std::string_view text) {
  std::vector<TensorText> tensors;
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return tensors;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    tensors.push_back(ParseInput(text.substr(0, end)));
    if (!tensors.back().is_tensor) return {};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tensors;
}

}  // namespace loopscope
