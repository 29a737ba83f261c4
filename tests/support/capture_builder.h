// Writes captures byte by byte from probes/wire.h alone, so that the importer is not tested against the probes' writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/wire.h"

namespace loopscope::test {

// Bit by bit, from the polynomial's definition.
inline std::uint32_t SlowCrc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

class CaptureBuilder {
 public:
  explicit CaptureBuilder(std::uint32_t chunk_bytes = wire::kMinChunkBytes) {
    std::memcpy(header.magic, wire::kMagic, sizeof header.magic);
    header.major = wire::kMajor;
    header.minor = wire::kMinor;
    header.header_bytes = wire::kHeaderBytes;
    header.chunk_bytes = chunk_bytes;
    header.pid = 100;
    header.clean_end = 1;
  }

  wire::FileHeader header{};

  void On(std::uint32_t pid, std::uint32_t tid) { at_ = {pid, tid}; }

  std::uint32_t String(std::string_view text) {
    const auto [known, added] =
        strings_.try_emplace(std::string(text), static_cast<std::uint32_t>(strings_.size() + 1));
    if (added) DefineString(known->second, text);
    return known->second;
  }

  void DefineString(std::uint32_t id, std::string_view text) {
    Write(wire::StringRecord{{wire::RecordKind::kString, 0, 0}, id, static_cast<std::uint32_t>(text.size())}, text);
  }

  void Op(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns, std::uint16_t flags = 0,
          std::uint32_t sequence = wire::kNoSequence, std::uint8_t scope = 0) {
    wire::OpRecord op{};
    op.head = {wire::RecordKind::kOp, scope, 0};
    op.name = String(name);
    op.start_ns = start_ns;
    op.duration =
        static_cast<std::uint32_t>(flags & wire::kOpLongDuration ? (end_ns - start_ns) / 1024 : end_ns - start_ns);
    op.sequence = sequence;
    op.flags = flags;
    Write(op);
  }

  // `further`: an even number of producers, padded with kNoSequence.
  void Detail(std::string_view inputs, std::uint32_t stack, std::uint32_t producer = wire::kNoSequence,
              std::initializer_list<std::uint32_t> further = {}) {
    const std::vector<std::uint32_t> all(further);
    Write(wire::OpDetailRecord{{wire::RecordKind::kOpDetail, 0, 0}, String(inputs), stack, producer},
          {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(std::uint32_t)});
  }

  void Range(wire::RangeCategory category, std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns,
             std::uint64_t value = 0, std::uint32_t stack = 0) {
    Write(wire::RangeRecord{{wire::RecordKind::kRange, static_cast<std::uint8_t>(category), 0},
                            String(name),
                            start_ns,
                            end_ns - start_ns,
                            value,
                            stack,
                            0});
  }

  void Mark(wire::MarkKind kind, std::string_view name, std::uint64_t time_ns, std::uint64_t value = 0) {
    Write(
        wire::MarkRecord{{wire::RecordKind::kMark, static_cast<std::uint8_t>(kind), 0}, String(name), time_ns, value});
  }

  void Step(std::string_view clock, std::uint64_t end_ns, std::uint64_t samples, std::uint8_t bits = 0,
            std::initializer_list<float> sums_ns = {}) {
    wire::StepRecord step{{wire::RecordKind::kStep, bits, 0}, String(clock), end_ns, samples, {}};
    std::copy(sums_ns.begin(), sums_ns.end(), step.sums_ns);
    Write(step);
  }

  std::uint32_t Stack(std::initializer_list<std::uint64_t> frames) {
    const std::vector<std::uint64_t> all(frames);
    Write(wire::StackRecord{{wire::RecordKind::kStack, 0, 0}, ++stacks_, static_cast<std::uint32_t>(all.size()), 0},
          {reinterpret_cast<const char*>(all.data()), all.size() * 8});
    return stacks_;
  }

  void Module(std::string_view path, std::uint64_t begin, std::uint64_t end, std::uint64_t file_offset) {
    Write(wire::ModuleRecord{{wire::RecordKind::kModule, 0, 0}, String(path), begin, end, file_offset, at_.first, 0});
  }

  void Knob(std::string_view key) { Write(wire::KnobRecord{{wire::RecordKind::kKnob, 0, 0}, String(key)}); }

  void Fact(std::string_view key, std::string_view value) {
    Write(wire::FactRecord{{wire::RecordKind::kFact, 0, 0}, String(key), String(value), 0});
  }

  void Applied(std::string_view key, std::string_view where, std::string_view was, std::string_view now) {
    Write(wire::AppliedRecord{
        {wire::RecordKind::kApplied, 0, 0}, String(key), String(where), String(was), String(now), 0});
  }

  void TensorPeak(std::uint64_t time_ns, std::uint64_t bytes) {
    Write(wire::TensorPeakRecord{{wire::RecordKind::kTensorPeak, 0, 0}, 0, time_ns, bytes});
  }

  void Tensor(std::uint64_t bytes, std::uint64_t allocated_ns, std::uint64_t used_ns, std::uint64_t freed_ns,
              std::uint32_t tid) {
    Write(wire::TensorRecord{{wire::RecordKind::kTensor, 0, 0}, tid, bytes, allocated_ns, used_ns, freed_ns});
  }

  // Any record: its words are filled in. A full chunk is closed and a new one begun.
  template <class Record>
  void Write(Record record, std::string_view tail = {}) {
    const std::size_t bytes = (sizeof record + tail.size() + 7) / 8 * 8;
    record.head.words = static_cast<std::uint16_t>(bytes / 8);
    std::string text(reinterpret_cast<const char*>(&record), sizeof record);
    text.append(tail).resize(bytes);
    auto open = open_.find(at_);
    if (open != open_.end() &&
        chunks_[open->second].records.size() + bytes > header.chunk_bytes - sizeof(wire::ChunkHeader)) {
      Close();
      open = open_.end();
    }
    if (open == open_.end()) {
      open = open_.emplace(at_, chunks_.size()).first;
      chunks_.push_back({at_.first, at_.second, {}, false});
    }
    chunks_[open->second].records += text;
  }

  // Closes the thread's chunk in order, with its check sum.
  void Close() {
    const auto open = open_.find(at_);
    if (open == open_.end()) return;
    chunks_[open->second].closed = true;
    open_.erase(open);
  }

  std::string Bytes() const {
    wire::FileHeader head = header;
    head.next_chunk = static_cast<std::uint32_t>(chunks_.size());
    head.next_string = static_cast<std::uint32_t>(strings_.size());
    head.next_stack = stacks_;
    std::string file(reinterpret_cast<const char*>(&head), sizeof head);
    file.resize(head.header_bytes);
    for (const Chunk& chunk : chunks_) {
      wire::ChunkHeader chunk_head{wire::kChunkMagic,
                                   wire::ChunkType::kRecords,
                                   chunk.closed,
                                   chunk.pid,
                                   chunk.tid,
                                   static_cast<std::uint32_t>(chunk.records.size()),
                                   0,
                                   0,
                                   0};
      if (chunk.closed) chunk_head.crc32c = SlowCrc32c(chunk.records);
      std::string bytes(reinterpret_cast<const char*>(&chunk_head), sizeof chunk_head);
      bytes += chunk.records;
      bytes.resize(head.chunk_bytes);
      file += bytes;
    }
    return file;
  }

  void Save(const std::filesystem::path& path) const { SaveBytes(path, Bytes()); }

  static void SaveBytes(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  struct Chunk {
    std::uint32_t pid, tid;
    std::string records;
    bool closed;
  };

  std::pair<std::uint32_t, std::uint32_t> at_{100, 100};
  std::vector<Chunk> chunks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> open_;  // chunk being written, by thread
  std::map<std::string, std::uint32_t> strings_;
  std::uint32_t stacks_ = 0;
};

}  // namespace loopscope::test
