#include "profiler/importers/kineto/merge.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "profiler/core/parallel.h"
#include "profiler/core/trace/op_names.h"
#include "profiler/importers/json/cursor.h"
#include "profiler/importers/kineto/details.h"
#include "profiler/importers/kineto/order.h"
#include "profiler/importers/kineto/repairs.h"
#include "profiler/importers/shared/inferred_flags.h"

namespace loopscope {
namespace {

enum BackwardName : std::uint8_t { kNoBackward, kBackwardNode, kBackwardCall };

bool StartsFirst(const PythonCall& a, const PythonCall& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

bool BeginsFirst(const Event& a, const Event& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.order < b.order;
}

// The same event again, identified by its own or its call's number.
bool IsSame(const Event& a, const Event& b) {
  if (a.start_ns != b.start_ns || a.end_ns != b.end_ns || a.name != b.name || a.order != b.order) return false;
  return a.value == b.value && (a.order != kNone ? a.order != 0 : a.value != 0);
}

std::uint8_t BackwardOf(std::string_view name) {
  if (ops::IsBackwardNode(name)) return kBackwardNode;
  const bool engine = name.find("torch/autograd/__init__.py(") != name.npos && name.ends_with("): backward");
  return engine ? kBackwardCall : kNoBackward;
}

// One entry of a shard's table, ordered by where it first occurs in the file.
struct Sighting {
  std::uint64_t seen_at;
  std::uint32_t shard, number;
  auto operator<=>(const Sighting&) const = default;
};

std::vector<Sighting> InOrder(const std::vector<std::unique_ptr<KinetoShard>>& shards,
                              const KinetoStrings KinetoShard::*table) {
  std::vector<Sighting> all;
  for (std::uint32_t s = 0; s < shards.size(); ++s) {
    const auto& entries = (*shards[s].*table).entries();
    for (std::uint32_t i = 0; i < entries.size(); ++i) all.push_back({entries[i].seen_at, s, i});
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

KinetoMerge::KinetoMerge(std::vector<std::unique_ptr<KinetoShard>> shards, std::int64_t base_ns)
    : shards_(std::move(shards)), base_ns_(base_ns) {}

Trace KinetoMerge::Run() {
  MapNames();
  for (const std::string& name : trace_.strings) backward_names_.push_back(BackwardOf(name));
  MapInputs();
  MapStacks();
  MapDetails();
  MergeDevices();
  MergeThreads();
  NameThreads();
  AddPeaks();
  return std::move(trace_);
}

StringId KinetoMerge::Intern(std::string text) {
  if (text.empty()) return 0;
  const auto [place, added] = ids_.try_emplace(std::move(text), static_cast<StringId>(trace_.strings.size()));
  if (added) trace_.strings.push_back(place->first);
  return place->second;
}

void KinetoMerge::MapNames() {
  for (const auto& shard : shards_) names_.emplace_back(shard->names.entries().size());
  for (const Sighting& one : InOrder(shards_, &KinetoShard::names)) {
    names_[one.shard][one.number] = Intern(UnescapedJson(shards_[one.shard]->names.entries()[one.number].text));
  }
}

void KinetoMerge::MapInputs() {
  std::uint32_t device = kNone;
  for (const auto& shard : shards_) {
    for (const KinetoDevice& one : shard->devices) device = std::min(device, one.ordinal);
    inputs_of_.emplace_back(shard->inputs.entries().size());
  }
  const std::string on_device = device == kNone ? "" : "cuda:" + std::to_string(device);
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (const Sighting& one : InOrder(shards_, &KinetoShard::inputs)) {
    const std::string_view raw = shards_[one.shard]->inputs.entries()[one.number].text;
    const auto [place, added] = known.try_emplace(raw, static_cast<std::uint32_t>(raw_.inputs.size()));
    inputs_of_[one.shard][one.number] = place->second;
    if (!added) continue;
    const std::size_t first = raw.find(kInputsGap), second = raw.find(kInputsGap, first + 1);
    const std::string_view dims = raw.substr(0, first), types = raw.substr(first + 1, second - first - 1),
                           values = raw.substr(second + 1);
    const StringId text = Intern(InputsText(dims, types, values, ""));
    const std::uint64_t hash = StringHash(raw.substr(0, second));
    raw_.inputs.push_back({text, on_device.empty() ? text : Intern(InputsText(dims, types, values, on_device)),
                           dims.empty() ? 0 : static_cast<std::uint32_t>(hash | 1)});
  }
}

void KinetoMerge::MapStacks() {
  KinetoStacks stacks(trace_);
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (const auto& shard : shards_) stacks_of_.emplace_back(shard->stacks.entries().size());
  for (const Sighting& one : InOrder(shards_, &KinetoShard::stacks)) {
    const std::string_view raw = shards_[one.shard]->stacks.entries()[one.number].text;
    const auto [place, added] = known.try_emplace(raw, kNone);
    if (added) place->second = stacks.OfText(UnescapedJson(raw));
    stacks_of_[one.shard][one.number] = place->second;
  }
}

void KinetoMerge::MapDetails() {
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    const KinetoShard& shard = *shards_[s];
    std::vector<std::uint32_t>& numbers = details_.emplace_back();
    for (std::size_t i = 0; i < shard.inputs_of_detail.size(); ++i) {
      const std::uint32_t stack = shard.stack_of_detail[i];
      numbers.push_back(static_cast<std::uint32_t>(raw_.details.size()));
      raw_.details.push_back({inputs_of_[s][shard.inputs_of_detail[i]], stack == kNone ? kNone : stacks_of_[s][stack]});
    }
  }
}

std::vector<KinetoMerge::MergedThread> KinetoMerge::GroupThreads() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, MergedThread> by_id;
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    for (KinetoThread& part : shards_[s]->threads) {
      MergedThread& merged = by_id[{part.pid, part.tid}];
      merged.thread.pid = part.pid;
      merged.thread.tid = part.tid;
      merged.shards.push_back(s);
      merged.parts.push_back(&part);
    }
  }
  std::vector<MergedThread> threads;
  for (auto& [id, merged] : by_id) threads.push_back(std::move(merged));
  return threads;
}

// After the existing ones, which stay ahead of others with the same time.
void KinetoMerge::AddEvents(MergedThread& merged, KinetoColumn<Event> KinetoThread::*column) const {
  std::vector<Event>& events = merged.thread.events;
  const auto had = static_cast<std::ptrdiff_t>(events.size());
  ForEachBlock(ColumnsOf(merged, column), [&](std::size_t from, const KinetoBlock<Event>& block) {
    const std::size_t shard = merged.shards[from];
    for (std::size_t i = 0; i < block.size; ++i) {
      Event& event = events.emplace_back(block.items[i]);
      event.start_ns += base_ns_;
      event.end_ns += base_ns_;
      event.name = names_[shard][event.name];
      if (event.detail != kNone) event.detail = details_[shard][event.detail];
    }
  });
  SortRuns(std::span(events).subspan(static_cast<std::size_t>(had)), BeginsFirst);
  std::inplace_merge(events.begin(), events.begin() + had, events.end(), BeginsFirst);
}

void KinetoMerge::MergeThread(MergedThread& merged) {
  ForEachBlock(ColumnsOf(merged, &KinetoThread::python), [&](std::size_t from, const KinetoBlock<PythonCall>& block) {
    for (std::size_t i = 0; i < block.size; ++i) {
      const PythonCall& call = block.items[i];
      const std::vector<StringId>& names = names_[merged.shards[from]];
      merged.python.push_back({call.start_ns + base_ns_, call.end_ns + base_ns_, names[call.name],
                               call.called_from == kNone ? kNone : names[call.called_from]});
    }
  });
  SortRuns(std::span(merged.python), StartsFirst);
  std::vector<Event>& events = merged.thread.events;
  const std::vector<Event> backward = BackwardCalls(merged);
  // Reserved once and in full: growing would hold them twice.
  events.reserve(backward.size() + RecordsIn(ColumnsOf(merged, &KinetoThread::ops)) +
                 RecordsIn(ColumnsOf(merged, &KinetoThread::calls)));
  AddEvents(merged, &KinetoThread::ops);
  const auto ops = static_cast<std::ptrdiff_t>(events.size());
  events.insert(events.end(), backward.begin(), backward.end());
  std::inplace_merge(events.begin(), events.begin() + ops, events.end(), BeginsFirst);
  AddEvents(merged, &KinetoThread::calls);
  duplicates_ += DropDuplicates(events, IsSame);
  SeparateWholeMicroseconds(base_ns_, events);
  const auto is_backward = [&](const Event& op) {
    return op.forward_thread != 0 || backward_names_[op.name] == kBackwardNode;
  };
  MarkGraphOps(is_backward, events);
  MarkOutermostOps(events);
}

// Python's call into the autograd engine is the backward pass, gaps included.
std::vector<Event> KinetoMerge::BackwardCalls(const MergedThread& merged) const {
  std::vector<Event> calls;
  std::int64_t covered_to = INT64_MIN;
  for (const PythonCall& call : merged.python) {
    if (backward_names_[call.name] != kBackwardCall || call.start_ns < covered_to) continue;
    covered_to = call.end_ns;
    Event& event = calls.emplace_back();
    event.start_ns = call.start_ns;
    event.end_ns = call.end_ns;
    event.name = call.name;
    event.kind = EventKind::kRange;
    event.sub = static_cast<std::uint8_t>(RangeCategory::kBackward);
  }
  return calls;
}

void KinetoMerge::MergeThreads() {
  std::vector<MergedThread> threads = GroupThreads();
  ParallelFor(threads.size(), shards_.size(), [&](std::size_t i) { MergeThread(threads[i]); });
  KinetoStacks stacks(trace_);
  KinetoDetails details(raw_, trace_, stacks);
  for (MergedThread& merged : threads) {
    if (merged.thread.events.empty()) continue;
    const auto index = static_cast<std::uint32_t>(trace_.threads.size());
    if (!raw_.details.empty() || !merged.python.empty()) details.Add(index, merged.thread.events, merged.python);
    merged.python = {};
    trace_.threads.push_back(std::move(merged.thread));
  }
}

void KinetoMerge::NameThreads() {
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    for (Thread& thread : trace_.threads) {
      const auto found = shards_[s]->thread_names.find({thread.pid, thread.tid});
      if (found != shards_[s]->thread_names.end()) thread.name = trace_.text(names_[s][found->second]);
    }
  }
}

void KinetoMerge::AddPeaks() {
  std::map<std::int64_t, std::uint64_t> peaks;
  for (const auto& shard : shards_) {
    for (const auto& [device, bytes] : shard->peak_bytes) peaks[device] = std::max(peaks[device], bytes);
  }
  std::int64_t last_ns = INT64_MIN;
  for (const Thread& thread : trace_.threads) last_ns = std::max(last_ns, thread.events.back().end_ns);
  if (trace_.threads.empty()) return;
  for (const auto& [device, bytes] : peaks) {
    trace_.marks.push_back({last_ns, MarkKind::kPeakBytes, Intern("cuda:" + std::to_string(device)), bytes, 0});
  }
}

}  // namespace loopscope
