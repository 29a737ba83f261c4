#include "profiler/importers/capture/definitions.h"

#include <algorithm>

namespace loopscope {
namespace {

using wire::RecordKind;

// The variable part of a record, at most `bytes` of it.
template <class Record>
std::string_view Tail(wire::RecordHead head, const char* at, std::size_t bytes) {
  const std::size_t size = std::size_t{head.words} * 8;
  return size < sizeof(Record) ? std::string_view()
                               : std::string_view(at, size).substr(sizeof(Record)).substr(0, bytes);
}

template <class Record>
bool IsWhole(wire::RecordHead head) {
  return std::size_t{head.words} * 8 >= sizeof(Record);
}

// Records that may refer to strings defined after them.
bool IsOther(RecordKind kind) {
  return (kind >= RecordKind::kStack && kind <= RecordKind::kFact) || kind == RecordKind::kKnob ||
         kind == RecordKind::kTensorPeak || kind == RecordKind::kTensor || kind == RecordKind::kGain;
}

class DefinitionReader {
 public:
  DefinitionReader(CaptureDefinitions& all, std::size_t file_bytes) : all_(all), max_id_(file_bytes / 16) {}

  // Strings first: the rest refers to them.
  void AddString(wire::RecordHead head, const char* at) {
    if (head.kind != RecordKind::kString) return;
    const auto record = RecordAt<wire::StringRecord>(at);
    if (record.id == 0 || record.id > max_id_) return;
    if (record.id >= all_.strings.size()) all_.strings.resize(record.id + 1);
    all_.strings[record.id] = Tail<wire::StringRecord>(head, at, record.length);
  }

  void AddOther(std::uint32_t pid, wire::RecordHead head, const char* at) {
    switch (head.kind) {
      case RecordKind::kStack:
        return AddStack(head, at);
      case RecordKind::kModule:
        return AddModule(RecordAt<wire::ModuleRecord>(at));
      case RecordKind::kApplied:
        return AddApplied(RecordAt<wire::AppliedRecord>(at));
      case RecordKind::kFact: {
        const auto fact = RecordAt<wire::FactRecord>(at);
        if (all_.text(fact.key) == "program.knobs") return AddKnobs(all_.text(fact.value));  // before version 1.11
        if (!Text(fact.key).empty()) all_.facts.emplace_back(Text(fact.key), Text(fact.value));
        return;
      }
      case RecordKind::kKnob:
        all_.knobs.push_back(Text(RecordAt<wire::KnobRecord>(at).key));
        return;
      case RecordKind::kTensorPeak:
        if (IsWhole<wire::TensorPeakRecord>(head)) all_.tensor_peaks.push_back(RecordAt<wire::TensorPeakRecord>(at));
        return;
      case RecordKind::kTensor:
        if (IsWhole<wire::TensorRecord>(head)) all_.tensors.emplace_back(pid, RecordAt<wire::TensorRecord>(at));
        return;
      case RecordKind::kGain:
        if (IsWhole<wire::GainRecord>(head)) AddGain(RecordAt<wire::GainRecord>(at));
        return;
      default:
        return;
    }
  }

 private:
  void AddKnobs(std::string_view keys) {
    while (!keys.empty()) {
      const std::size_t comma = std::min(keys.find(','), keys.size());
      all_.knobs.emplace_back(keys.substr(0, comma));
      keys.remove_prefix(std::min(comma + 1, keys.size()));
    }
  }

  std::string Text(std::uint32_t id) const { return std::string(all_.text(id)); }

  void AddStack(wire::RecordHead head, const char* at) {
    const auto record = RecordAt<wire::StackRecord>(at);
    if (record.id == 0 || record.id > max_id_) return;
    const std::string_view frames = Tail<wire::StackRecord>(head, at, std::size_t{record.count} * 8);
    if (record.id > all_.stacks.size()) all_.stacks.resize(record.id);
    std::vector<std::uint64_t>& stack = all_.stacks[record.id - 1];
    stack.resize(frames.size() / 8);
    if (!stack.empty()) std::memcpy(stack.data(), frames.data(), stack.size() * 8);
  }

  void AddModule(const wire::ModuleRecord& module) {
    if (module.begin >= module.end || Text(module.path).empty()) return;
    all_.modules.push_back({Text(module.path), module.begin, module.end, module.file_offset});
  }

  void AddApplied(const wire::AppliedRecord& record) {
    all_.applied.push_back({Text(record.key), Text(record.where), Text(record.old), Text(record.now), record.flags});
  }

  // Impossible times mean a damaged record.
  void AddGain(const wire::GainRecord& record) {
    constexpr std::uint64_t kMostNs = 3600ull * 1'000'000'000;
    if (Text(record.change).empty() || record.before_ns == 0 || record.before_ns > kMostNs) return;
    if (record.after_ns == 0 || record.after_ns > kMostNs) return;
    all_.gains.push_back({Text(record.change), Text(record.work), record.count,
                          static_cast<std::int64_t>(record.before_ns), static_cast<std::int64_t>(record.after_ns)});
  }

  CaptureDefinitions& all_;
  std::size_t max_id_;
};

}  // namespace

CaptureDefinitions ReadDefinitions(const std::vector<ChunkView>& chunks, std::size_t file_bytes) {
  CaptureDefinitions all;
  DefinitionReader reader(all, file_bytes);
  std::vector<std::pair<std::uint32_t, const char*>> others;  // by process
  for (const ChunkView& chunk : chunks) {
    ForEachRecord(chunk, [&](wire::RecordHead head, const char* at) {
      if (head.kind == RecordKind::kOp) return;
      reader.AddString(head, at);
      if (IsOther(head.kind)) others.emplace_back(chunk.pid, at);
    });
  }
  for (const auto& [pid, at] : others) reader.AddOther(pid, RecordAt<wire::RecordHead>(at), at);
  return all;
}

}  // namespace loopscope
