// What the preloaded library offers to the collector, kept in memory: names, facts, marks and the records themselves.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "probes/preload/probe_api.h"
#include "probes/wire.h"

namespace loopscope::test {

struct Recorded {
  std::mutex lock;
  std::vector<std::string> names{""};
  std::map<std::string, std::string> facts;
  std::vector<std::string> marks;
  std::vector<std::uint64_t> mark_values;  // of each mark
  std::vector<wire::DeviceRecord> work;
  std::vector<wire::DeviceCallRecord> calls;
  std::vector<wire::RangeRecord> ranges;
  bool full = false;  // records find no room

  static Recorded& Instance() {
    static Recorded recorded;
    return recorded;
  }
  void Clear() {
    names = {""};
    facts.clear();
    marks.clear();
    mark_values.clear();
    work.clear();
    calls.clear();
    ranges.clear();
    full = false;
  }
  std::string Name(std::uint32_t id) const { return id < names.size() ? names[id] : "?"; }
};

inline bool AppendRecords(const void* records, std::size_t bytes) {
  Recorded& recorded = Recorded::Instance();
  const std::lock_guard guard(recorded.lock);
  if (recorded.full) return false;
  for (std::size_t at = 0; at < bytes;) {
    const char* const record = static_cast<const char*>(records) + at;
    wire::RecordHead head;
    std::memcpy(&head, record, sizeof head);
    if (head.kind == wire::RecordKind::kDevice) {
      std::memcpy(&recorded.work.emplace_back(), record, sizeof(wire::DeviceRecord));
    } else if (head.kind == wire::RecordKind::kDeviceCall) {
      std::memcpy(&recorded.calls.emplace_back(), record, sizeof(wire::DeviceCallRecord));
    } else if (head.kind == wire::RecordKind::kRange) {
      std::memcpy(&recorded.ranges.emplace_back(), record, sizeof(wire::RangeRecord));
    }
    at += std::size_t{head.words} * 8;
  }
  return true;
}

inline std::uint32_t NameId(const char* text, std::size_t length) {
  Recorded& recorded = Recorded::Instance();
  const std::lock_guard guard(recorded.lock);
  recorded.names.emplace_back(text, length);
  return static_cast<std::uint32_t>(recorded.names.size() - 1);
}

inline const ProbeApi* FakeProbeApi() {
  static const ProbeApi api = [] {
    ProbeApi made{};
    made.version = kProbeApiVersion;
    made.tracing = true;
    made.append = AppendRecords;
    made.now_ns = [] {
      static std::uint64_t now_ns = 1000;
      return now_ns += 1000;
    };
    made.string_id = NameId;
    made.mark = [](std::uint8_t, const char* name, std::uint64_t value) {
      Recorded::Instance().marks.emplace_back(name);
      Recorded::Instance().mark_values.emplace_back(value);
    };
    made.fact = [](const char* key, const char* value) { Recorded::Instance().facts[key] = value; };
    return made;
  }();
  return &api;
}

}  // namespace loopscope::test
