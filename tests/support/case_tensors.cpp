#include "tests/support/case_tensors.h"

namespace loopscope::test {
namespace {

std::uint64_t SizeOn(const CaseLine& line) {
  if (line.words.size() < 2) throw CaseError{line.number, "'" + line.words[0] + "' needs a size"};
  return ReadBytes(line.words[1], line.number);
}

[[noreturn]] void FailAt(const CaseLine& line, const std::string& word) {
  throw CaseError{line.number, "unknown attribute '" + word + "' of " + line.words[0]};
}

TensorPeak ReadPeak(const CaseLine& line) {
  TensorPeak peak{.bytes = SizeOn(line)};
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const auto [key, value] = SplitAttribute(line.words[i]);
    if (key != "after") FailAt(line, line.words[i]);
    peak.time_ns = ReadTime(value, line.number);
  }
  return peak;
}

std::pair<std::string, IdleTensor> ReadTensor(const CaseLine& line) {
  std::pair<std::string, IdleTensor> read{"main", {.bytes = SizeOn(line)}};
  auto& [thread, tensor] = read;
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const auto [key, value] = SplitAttribute(line.words[i]);
    if (key == "made") {
      tensor.allocated_ns = ReadTime(value, line.number);
    } else if (key == "used") {
      tensor.used_ns = ReadTime(value, line.number);
    } else if (key == "freed") {
      tensor.freed_ns = ReadTime(value, line.number);
    } else if (key == "thread") {
      thread = value;
    } else {
      FailAt(line, line.words[i]);
    }
  }
  return read;
}

}  // namespace

bool ReadTensorLine(const CaseLine& line, TensorSpecs& specs) {
  if (line.words[0] == "tensors") {
    specs.peaks.push_back(ReadPeak(line));
  } else if (line.words[0] == "tensor") {
    specs.tensors.push_back(ReadTensor(line));
  } else {
    return false;
  }
  return true;
}

void LayTensors(TraceBuilder& builder, const TensorSpecs& specs, std::int64_t start_ns) {
  for (TensorPeak peak : specs.peaks) {
    peak.time_ns += start_ns;
    builder.trace().tensor_peaks.push_back(peak);
  }
  for (const auto& [thread, spec] : specs.tensors) {
    IdleTensor tensor = spec;
    tensor.allocated_ns += start_ns;
    tensor.used_ns += start_ns;
    if (tensor.freed_ns != 0) tensor.freed_ns += start_ns;
    tensor.thread = builder.Thread(thread);
    builder.trace().idle_tensors.push_back(tensor);
  }
}

}  // namespace loopscope::test
