#include "tests/support/case_device.h"

#include <map>

namespace loopscope::test {
namespace {

struct Word {
  const char *call, *work;  // work "": named on the line
  DeviceKind kind;
  CopyKind copy = CopyKind::kNotACopy;
  std::uint32_t stream = 7;
};

const std::map<std::string_view, Word> kWords{
    {"launch", {"cudaLaunchKernel", "", DeviceKind::kKernel}},
    {"nccl", {"cudaLaunchKernelExC", "", DeviceKind::kCommunication, CopyKind::kNotACopy, 20}},
    {"h2d", {"cudaMemcpyAsync", "Memcpy HtoD", DeviceKind::kCopy, CopyKind::kHostToDevice}},
    {"d2h", {"cudaMemcpyAsync", "Memcpy DtoH", DeviceKind::kCopy, CopyKind::kDeviceToHost}},
    {"d2d", {"cudaMemcpyAsync", "Memcpy DtoD", DeviceKind::kCopy, CopyKind::kDeviceToDevice}},
    {"memset", {"cudaMemsetAsync", "Memset (Device)", DeviceKind::kMemset}},
    {"graph", {"cudaGraphLaunch", "CUDA graph", DeviceKind::kGraph}},
};

}  // namespace

bool IsDeviceWord(std::string_view word) {
  return kWords.contains(word);
}

std::size_t ReadDeviceCall(const CaseLine& line, EventSpec& event) {
  const Word& word = kWords.at(line.words[0]);
  event.kind = EventSpec::Kind::kRange;
  event.sub = static_cast<std::uint8_t>(RangeCategory::kDeviceCall);
  event.name = word.call;
  DeviceSpec work;
  work.name = word.work;
  work.kind = word.kind;
  work.copy = word.copy;
  work.stream = word.stream;
  const bool named = work.name.empty();
  if (named && line.words.size() < 2) throw CaseError{line.number, "'" + line.words[0] + "' needs a name"};
  if (named) work.name = line.words[1];
  event.device = std::move(work);
  return named ? 2 : 1;
}

bool ReadDeviceAttribute(const CaseLine& line, const std::string& key, const std::string& value, EventSpec& event) {
  if (!event.device) return false;
  DeviceSpec& work = *event.device;
  if (key == "runs") {
    work.length_ns = ReadTime(value, line.number);
  } else if (key == "delay") {
    work.delay_ns = ReadTime(value, line.number);
  } else if (key == "stream") {
    work.stream = static_cast<std::uint32_t>(ReadNumber(value, line.number));
  } else if (key == "device") {
    work.device = static_cast<std::uint32_t>(ReadNumber(value, line.number));
  } else if (key == "bytes") {
    work.bytes = ReadBytes(value, line.number);
  } else if (key == "pageable" && value.empty()) {
    work.flags |= kDevicePageable;
  } else if (key == "pinned" && value.empty()) {
    work.flags |= kDevicePinned | kDeviceAsync;
  } else {
    return false;
  }
  return true;
}

}  // namespace loopscope::test
