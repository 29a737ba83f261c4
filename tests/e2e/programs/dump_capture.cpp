// Prints a capture's header and raw records, one line each.   dump_capture FILE [--ops]
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "probes/wire.h"

namespace {

using namespace loopscope::wire;

std::map<std::uint32_t, std::string> strings;

template <class Record>
Record As(const char* from) {
  Record record;
  std::memcpy(&record, from, sizeof record);
  return record;
}

const char* Text(std::uint32_t id) {
  return id == 0 ? "" : strings[id].c_str();
}

void Define(const char* from) {
  const auto record = As<StringRecord>(from);
  strings[record.id].assign(from + sizeof record, record.length);
}

void PrintMark(const MarkRecord& mark, double ms) {
  static constexpr const char* kNames[] = {
      "",           "StepEnd",    "MeasureBegin", "MeasureEnd",   "EpochEnd", "Resident",    "Peak",      "Loss",
      "Metric",     "SampleHash", "ProbeOff",     "ProbeOn",      "CleanEnd", "DetailBegin", "DetailEnd", "ThreadName",
      "EpochStart", "Switch",     "DeviceBytes",  "DeviceSample", "OpsEnd",   "OpsBegin"};
  double value;
  std::memcpy(&value, &mark.value, sizeof value);
  std::printf("%12.3f mark %-12s %s %llu", ms, kNames[mark.head.sub], Text(mark.name),
              static_cast<unsigned long long>(mark.value));
  const auto kind = static_cast<MarkKind>(mark.head.sub);
  if (kind == MarkKind::kLoss || kind == MarkKind::kMetric) std::printf(" %.17g", value);
  std::printf("\n");
}

void PrintRange(const RangeRecord& range, double ms) {
  static constexpr const char* kNames[] = {"User",       "Loader",  "Backward",      "Optimizer",
                                           "ZeroGrad",   "Sync",    "Communication", "CopyToDevice",
                                           "Evaluation", "Forward", "Wait"};
  std::printf("%12.3f range %-10s %s %.3f ms value %llu stack %u\n", ms, kNames[range.head.sub], Text(range.name),
              static_cast<double>(range.duration_ns) / 1e6, static_cast<unsigned long long>(range.value), range.stack);
}

void PrintOp(const OpRecord& op, double ms) {
  std::printf("%12.3f op %s %u%s seq %d hash %08x fwd %u flags %03x scope %u\n", ms, Text(op.name), op.duration,
              op.flags & kOpLongDuration ? " KiNs" : " ns", static_cast<int>(op.sequence), op.shape_hash,
              op.forward_thread, op.flags, op.head.sub);
}

void Print(const char* from, const FileHeader& file, bool ops) {
  const auto head = As<RecordHead>(from);
  const auto ms = [&](std::uint64_t ns) {
    return (static_cast<double>(ns) - static_cast<double>(file.start_mono_ns)) / 1e6;
  };
  if (head.kind == RecordKind::kMark) PrintMark(As<MarkRecord>(from), ms(As<MarkRecord>(from).time_ns));
  if (head.kind == RecordKind::kRange) PrintRange(As<RangeRecord>(from), ms(As<RangeRecord>(from).start_ns));
  if (head.kind == RecordKind::kFact)
    std::printf("fact %s = %s\n", Text(As<FactRecord>(from).key), Text(As<FactRecord>(from).value));
  if (head.kind == RecordKind::kKnob) std::printf("knob %s\n", Text(As<KnobRecord>(from).key));
  if (head.kind == RecordKind::kApplied) {
    const auto applied = As<AppliedRecord>(from);
    std::printf("applied %s at '%s': '%s' -> '%s' flags %u\n", Text(applied.key), Text(applied.where),
                Text(applied.old), Text(applied.now), applied.flags);
  }
  if (!ops) return;
  if (head.kind == RecordKind::kOp) PrintOp(As<OpRecord>(from), ms(As<OpRecord>(from).start_ns));
  if (head.kind == RecordKind::kOpDetail) {
    const auto detail = As<OpDetailRecord>(from);
    std::printf("             detail '%s' stack %u producer %d", Text(detail.inputs), detail.stack,
                static_cast<int>(detail.producer));
    for (std::size_t at = sizeof detail; at < head.words * 8u; at += 4) {
      std::printf(" %d", static_cast<int>(As<std::uint32_t>(from + at)));
    }
    std::printf("\n");
  }
  if (head.kind == RecordKind::kStack)
    std::printf("stack %u of %u frames\n", As<StackRecord>(from).id, As<StackRecord>(from).count);
  if (head.kind == RecordKind::kModule) {
    const auto module = As<ModuleRecord>(from);
    std::printf("module %llx-%llx %s\n", static_cast<unsigned long long>(module.begin),
                static_cast<unsigned long long>(module.end), Text(module.path));
  }
}

template <class Visit>
std::map<int, std::size_t> ForEachRecord(const std::string& data, const FileHeader& file, Visit visit) {
  std::map<int, std::size_t> counts;
  for (std::uint32_t n = 0; n < file.next_chunk; ++n) {
    const std::size_t at = file.header_bytes + std::size_t{n} * file.chunk_bytes;
    if (at + sizeof(ChunkHeader) > data.size()) break;
    const auto chunk = As<ChunkHeader>(data.data() + at);
    if (chunk.magic != kChunkMagic) continue;
    for (std::size_t used = 0; used < chunk.used;) {
      const char* from = data.data() + at + sizeof chunk + used;
      visit(from);
      ++counts[static_cast<int>(As<RecordHead>(from).kind)];
      used += As<RecordHead>(from).words * 8u;
    }
  }
  return counts;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fputs("usage: dump_capture FILE [--ops]\n", stderr), 2;
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string data{std::istreambuf_iterator<char>(in), {}};
  if (data.size() < sizeof(FileHeader)) return std::fputs("not a capture\n", stderr), 2;
  const auto file = As<FileHeader>(data.data());
  const bool ops = count > 2 && std::strcmp(arguments[2], "--ops") == 0;
  ForEachRecord(data, file, [](const char* from) {
    if (As<RecordHead>(from).kind == RecordKind::kString) Define(from);
  });
  const auto counts = ForEachRecord(data, file, [&](const char* from) { Print(from, file, ops); });
  std::printf(
      "chunks %u strings %u stacks %u clean %u dropped %llu stalls %llu bytes %zu; records by kind:", file.next_chunk,
      file.next_string, file.next_stack, file.clean_end, static_cast<unsigned long long>(file.dropped),
      static_cast<unsigned long long>(file.stalls_over_1ms), data.size());
  for (const auto& [kind, number] : counts) std::printf(" %d:%zu", kind, number);
  std::printf("\n");
}
