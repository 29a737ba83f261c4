#include "tests/replay/activities.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "probes/cupti/activity_layout.h"
#include "tests/cupti/buffer.h"

namespace loopscope::replay {
namespace {

using test::RecordBytes;

template <const RecordBytes& kBytes>
constexpr Layout LayoutOf(const char* name, std::uint32_t version, bool enables_single_calls) {
  return {name, version, test::BytesOf<kBytes>, test::NextRecord<kBytes>, enables_single_calls};
}

constexpr auto kLayouts = std::to_array<Layout>(
    {LayoutOf<test::kCupti124>("12.4", 22, false), LayoutOf<test::kCupti128>("12.8", 26, true),
     LayoutOf<test::kCupti130>("13.0", 130'000, true), LayoutOf<test::kCupti135>("13.4", 130'400, true)});

class Maker {
 public:
  Maker(const Program& program, const Layout& layout, std::uint64_t base_ns, CallNames& names)
      : program_(program), layout_(layout), base_ns_(base_ns), names_(names) {}

  void Add(const Device& from) {
    activity::Device device{};
    device.id = from.ordinal;
    device.name = program_.names.at(from.name).c_str();
    device.memory_bytes = from.memory_bytes;
    device.compute_major = from.compute_major, device.compute_minor = from.compute_minor;
    device.multiprocessors = from.multiprocessors;
    Put(CUPTI_ACTIVITY_KIND_DEVICE, 0, device);
    activity::Context context{};
    context.context = ContextOf(from.ordinal), context.device = from.ordinal;
    Put(CUPTI_ACTIVITY_KIND_CONTEXT, 0, context);
  }

  void Add(const Work& work) {
    if (work.letter == 'K') {
      activity::Kernel kernel{};
      kernel.name = program_.names.at(work.name).c_str();
      PutWork(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, work, kernel);
    } else if (work.letter == 'C') {
      activity::Memcpy copy{};
      copy.copy_kind = static_cast<std::uint8_t>(work.way);
      copy.from = static_cast<std::uint8_t>(work.from), copy.to = static_cast<std::uint8_t>(work.to);
      copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
      copy.bytes = work.bytes;
      PutWork(CUPTI_ACTIVITY_KIND_MEMCPY, work, copy);
    } else if (work.letter == 'M') {
      activity::Memset set{};
      set.bytes = work.bytes;
      PutWork(CUPTI_ACTIVITY_KIND_MEMSET, work, set);
    } else {
      activity::Synchronization wait{};
      wait.context = ContextOf(work.device), wait.stream = work.stream, wait.correlation = work.correlation;
      PutTimed(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, work, wait);
    }
  }

  void Add(const Call& from, std::uint32_t thread_id) {
    activity::Api call{};
    call.callback = IdOf(from.runtime ? names_.runtime : names_.driver, program_.names.at(from.name));
    call.thread = thread_id, call.correlation = from.correlation;
    PutTimed(from.runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER, from, call, call.callback);
  }

  std::vector<Activity> Finish() {
    std::ranges::stable_sort(made_, {}, &Activity::end_ns);
    return std::move(made_);
  }

 private:
  static std::uint32_t ContextOf(std::uint32_t device) { return device + 1; }

  static std::uint32_t IdOf(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) names.push_back(name);
    return static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin()) + 1;
  }

  template <class Record>
  void PutWork(CUpti_ActivityKind kind, const Work& work, Record record) {
    record.device = work.device, record.context = ContextOf(work.device), record.stream = work.stream;
    record.correlation = work.correlation;
    PutTimed(kind, work, record);
  }

  template <class From, class Record>
  void PutTimed(CUpti_ActivityKind kind, const From& from, Record record, std::uint32_t callback = 0) {
    record.start = base_ns_ + from.start, record.end = record.start + from.duration;
    Put(kind, record.end, record, callback);
  }

  template <class Record>
  void Put(CUpti_ActivityKind kind, std::uint64_t end_ns, Record record, std::uint32_t callback = 0) {
    record.kind = kind;
    test::Buffer bytes;
    bytes.AddAs(layout_.bytes_of(kind), record);
    made_.push_back({end_ns, kind, callback, std::move(bytes.bytes())});
  }

  const Program& program_;
  const Layout& layout_;
  std::uint64_t base_ns_;
  CallNames& names_;
  std::vector<Activity> made_;
};

}  // namespace

const Layout* FindLayout(const std::string& name) {
  const auto* const found = std::ranges::find(kLayouts, name, [](const Layout& one) { return std::string(one.name); });
  return found == kLayouts.end() ? nullptr : found;
}

std::vector<Activity> ActivitiesOf(const Program& program, const Layout& layout,
                                   const std::map<std::uint32_t, std::uint32_t>& thread_ids, std::uint64_t base_ns,
                                   CallNames& names) {
  Maker maker(program, layout, base_ns, names);
  for (const Device& device : program.devices) maker.Add(device);
  for (const Work& work : program.work) maker.Add(work);
  for (const Call& call : program.calls) maker.Add(call, thread_ids.at(call.thread));
  return maker.Finish();
}

}  // namespace loopscope::replay
