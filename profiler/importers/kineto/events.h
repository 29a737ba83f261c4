// Reads the elements of a window of "traceEvents" into a shard.
#pragma once

#include <optional>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/kineto/shard.h"

namespace loopscope {

class KinetoEvents {
 public:
  explicit KinetoEvents(KinetoShard& shard) : shard_(shard) {}
  void Read(const JsonWindow& window);

 private:
  struct Args {
    std::int64_t correlation = 0, stream = -2, device = -2, bytes = 0;
    std::int64_t sequence = -1, forward_thread = 0;
    std::int64_t elements_in = 0, elements_out = 0, ranks = 0, collective_sequence = 0;
    std::int64_t external = 0;
    std::int64_t device_type = 0, device_id = 0, allocated = 0;
    std::string_view dims, types, concrete, call_stack, call_from, collective, dtype, group, purpose, name;
  };
  // The fields of one element that this format uses. Strings are raw.
  struct Element {
    std::string_view name;
    char phase = 0;
    KinetoCategory category = KinetoCategory::kOther;
    bool has_category = false, has_start = false, has_duration = false, fits = true;
    std::int64_t pid = -1, tid = -1, start_ns = 0, duration_ns = 0;
    std::string_view pid_text;  // empty where it is a number
    Args args;
    std::string_view unread_args;  // seen before it was known what the element is
  };

  bool ReadElement(JsonCursor& cursor, Element& element);
  bool ReadField(JsonCursor& cursor, std::string_view key, Element& element);
  bool ReadTime(JsonCursor& cursor, bool& has, bool& fits, std::int64_t& ns);
  static bool ReadArgs(JsonCursor& cursor, Args& args);
  static bool ReadArg(JsonCursor& cursor, std::string_view key, Args& args);

  void Add(const Element& element);
  void AddHost(const Element& element, KinetoThread& thread);
  void AddBegin(const Element& element);
  void AddDevice(const Element& element, KinetoDevice& device);
  std::optional<DeviceEvent> Work(const Element& element, KinetoDevice& device);
  void AddMetadata(const Element& element);
  void AddMemory(const Args& args);
  std::uint32_t Detail(const Args& args);
  std::uint32_t Collected(const Args& args, std::uint32_t operation, KinetoDevice& device);
  void AddEnd(const Element& element);
  Event HostEvent(const Element& element);
  KinetoThread* ThreadOf(const Element& element);
  KinetoDevice* DeviceOf(const Element& element);
  std::uint32_t Name(std::string_view raw) { return shard_.names.Id(raw, seen_at()); }
  std::uint64_t seen_at() { return std::uint64_t{window_} << 32 | element_; }

  // The meaning of a name, computed once per name and category.
  struct Meaning {
    bool known = false, range = false, collective = false;
    RangeCategory category{};
    std::uint32_t shown = 0;
    std::uint32_t operation = kNone;  // of a collective kernel
    CopyName copy;
  };
  const Meaning& MeaningOf(std::uint32_t name, std::string_view raw, KinetoCategory category);

  KinetoShard& shard_;
  std::uint32_t window_ = 0, element_ = 0;
  std::vector<Meaning> meanings_;  // by name × category
  std::size_t last_thread_ = 0;
  std::string scratch_;
};

}  // namespace loopscope
