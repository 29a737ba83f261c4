// One function per simple record: fills it and appends it to the capture. Strings are given as text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "probes/capture/strings.h"
#include "probes/capture/writer.h"
#include "probes/wire.h"

namespace loopscope::capture {

template <class Record>
inline wire::RecordHead HeadOf(wire::RecordKind kind, std::uint8_t sub) noexcept {
  static_assert(sizeof(Record) % 8 == 0);
  return {kind, sub, sizeof(Record) / 8};
}

// `name` is a string id.
inline bool WriteNamedMark(std::uint64_t time_ns, wire::MarkKind kind, std::uint32_t name,
                           std::uint64_t value) noexcept {
  const wire::MarkRecord record{HeadOf<wire::MarkRecord>(wire::RecordKind::kMark, static_cast<std::uint8_t>(kind)),
                                name, time_ns, value};
  return Append(&record, sizeof record);
}

inline bool WriteMarkAt(std::uint64_t time_ns, wire::MarkKind kind, std::string_view name = {},
                        std::uint64_t value = 0) noexcept {
  return WriteNamedMark(time_ns, kind, StringId(name), value);
}

inline bool WriteMark(wire::MarkKind kind, std::string_view name = {}, std::uint64_t value = 0) noexcept {
  return WriteMarkAt(NowNs(), kind, name, value);
}

// `clock` is a string id; `bits` of wire::StepBit.
inline bool WriteStep(std::uint64_t end_ns, std::uint32_t clock, std::uint64_t samples, std::uint8_t bits,
                      const std::array<float, wire::kStepSums>& sums_ns) noexcept {
  wire::StepRecord record{HeadOf<wire::StepRecord>(wire::RecordKind::kStep, bits), clock, end_ns, samples, {}};
  std::ranges::copy(sums_ns, record.sums_ns);
  return Append(&record, sizeof record);
}

// `name` is a string id.
inline bool WriteRange(wire::RangeCategory category, std::uint32_t name, std::uint64_t start_ns, std::uint64_t end_ns,
                       std::uint64_t value = 0, std::uint32_t stack = 0) noexcept {
  const wire::RangeRecord record{
      HeadOf<wire::RangeRecord>(wire::RecordKind::kRange, static_cast<std::uint8_t>(category)),
      name,
      start_ns,
      end_ns - start_ns,
      value,
      stack,
      0};
  return Append(&record, sizeof record);
}

inline bool WriteFact(std::string_view key, std::string_view value) noexcept {
  const wire::FactRecord record{HeadOf<wire::FactRecord>(wire::RecordKind::kFact, 0), StringId(key), StringId(value),
                                0};
  return Append(&record, sizeof record);
}

template <std::integral Number>
inline bool WriteFact(std::string_view key, Number number) noexcept {
  char text[24];
  const char* const end = std::to_chars(text, text + sizeof text, number).ptr;
  return WriteFact(key, std::string_view(text, static_cast<std::size_t>(end - text)));
}

inline bool WriteKnob(std::string_view key) noexcept {
  const wire::KnobRecord record{HeadOf<wire::KnobRecord>(wire::RecordKind::kKnob, 0), StringId(key)};
  return Append(&record, sizeof record);
}

inline bool WriteTensorPeak(std::uint64_t time_ns, std::uint64_t bytes) noexcept {
  const wire::TensorPeakRecord record{HeadOf<wire::TensorPeakRecord>(wire::RecordKind::kTensorPeak, 0), 0, time_ns,
                                      bytes};
  return Append(&record, sizeof record);
}

// The head is filled in.
inline bool WriteTensor(wire::TensorRecord record) noexcept {
  record.head = HeadOf<wire::TensorRecord>(wire::RecordKind::kTensor, 0);
  return Append(&record, sizeof record);
}

inline bool WriteApplied(std::string_view key, std::string_view where, std::string_view old_value, std::string_view now,
                         std::uint32_t flags) noexcept {
  const wire::AppliedRecord record{HeadOf<wire::AppliedRecord>(wire::RecordKind::kApplied, 0),
                                   StringId(key),
                                   StringId(where),
                                   StringId(old_value),
                                   StringId(now),
                                   flags};
  return Append(&record, sizeof record);
}

}  // namespace loopscope::capture
