#include "profiler/core/timeline/timeline_build.h"

#include <algorithm>
#include <utility>

#include "profiler/core/devices/device_timeline_build.h"
#include "profiler/core/parallel.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr std::size_t kLinkingThreads = 2;

// The nearest earlier event that contains each one. Asynchronous ops are never a parent: they end elsewhere.
std::vector<std::uint32_t> ParentsOf(const std::vector<Event>& events) {
  std::vector<std::uint32_t> parents(events.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const bool async = event.kind == EventKind::kOp && (event.flags & wire::kOpAsync);
    while (!open.empty() && events[open.back()].end_ns <= event.start_ns) open.pop_back();
    while (!open.empty() && events[open.back()].end_ns < event.end_ns && !async) open.pop_back();
    const bool contained = !open.empty() && events[open.back()].end_ns >= event.end_ns;
    parents[i] = contained ? open.back() : kNone;
    if (!async) open.push_back(i);
  }
  return parents;
}

}  // namespace

const Interval* FirstFrom(const std::vector<Interval>& by_start, std::int64_t time_ns) {
  const auto found =
      std::ranges::partition_point(by_start, [&](const Interval& one) { return one.start_ns < time_ns; });
  return found == by_start.end() ? nullptr : &*found;
}

Timeline Timeline::Build(Trace trace) {
  return TimelineBuilder(std::move(trace)).Build();
}

TimelineBuilder::TimelineBuilder(Trace trace) {
  timeline_.trace_ = std::move(trace);
}

Timeline TimelineBuilder::Build() {
  ClassifyNames();
  LinkParents();
  if (!timeline_.trace_.devices.empty()) launches_ = LaunchesOf(timeline_.trace_, timeline_.parents_);
  FindTrainingThread();
  if (timeline_.training_thread_ == kNone) {
    timeline_.why_no_steps_ = "no training step was seen: no step mark, no optimizer step and no backward pass";
    FindDevices();
    return std::move(timeline_);
  }
  IndexProducers();
  CollectActivity();
  FindSteps();
  FindEvaluation();
  FindParts();
  FindWhole();
  ChooseSteps();
  FindLines();
  FindDevices();
  EstimateProbeCost();
  return std::move(timeline_);
}

void TimelineBuilder::ClassifyNames() {
  const std::vector<std::string>& strings = timeline_.trace_.strings;
  name_class_.resize(strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string_view name = strings[i];
    unsigned bits = 0;
    if (ops::IsProduct(name) || ops::IsBatchNorm(name) || ops::IsRecurrent(name)) bits |= kNameLayer;
    if (ops::IsBatchNorm(name) || ops::IsDropout(name)) bits |= kNameMode;
    if (ops::IsHostRead(name)) bits |= kNameHostRead;
    if (ops::IsBackwardNode(name)) bits |= kNameBackwardNode;
    if (name.starts_with("enumerate(DataLoader)")) bits |= kNamePythonLoader;
    if (name.starts_with("c10d::")) bits |= kNameCollective;
    name_class_[i] = static_cast<std::uint8_t>(bits);
  }
}

void TimelineBuilder::LinkParents() {
  std::vector<Thread>& threads = timeline_.trace_.threads;
  timeline_.parents_.resize(threads.size());
  thread_facts_.resize(threads.size());
  ParallelFor(threads.size(), kLinkingThreads, [&](std::size_t t) {
    timeline_.parents_[t] = ParentsOf(threads[t].events);
    ThreadFacts& facts = thread_facts_[t];
    for (const Event& event : threads[t].events) {
      facts.backward_ranges += event.is_range(RangeCategory::kBackward);
      if (event.kind != EventKind::kOp) continue;
      facts.graph_ops += (event.flags & wire::kOpGraph) != 0;
      facts.backward_nodes += event.name < name_class_.size() && (name_class_[event.name] & kNameBackwardNode);
    }
  });
}

void TimelineBuilder::FindTrainingThread() {
  const Trace& trace = timeline_.trace_;
  const bool any_backward = std::ranges::any_of(
      thread_facts_, [](const ThreadFacts& facts) { return facts.backward_ranges + facts.backward_nodes > 0; });
  std::vector<std::uint64_t> weights;
  for (const ThreadFacts& facts : thread_facts_) {
    // On a GPU, graph nodes run on the engine's threads: there the forward ops identify the training thread.
    const std::uint64_t weight = facts.backward_ranges ? facts.backward_ranges << 32 : facts.graph_ops;
    weights.push_back(any_backward ? weight : 0);
  }
  ledger_.emplace(trace, weights);
  timeline_.training_thread_ = ledger_->thread() < trace.threads.size() ? ledger_->thread() : kNone;
  if (timeline_.training_thread_ == kNone) return;
  timeline_.step_threads_.push_back(timeline_.training_thread_);
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const bool same_process = trace.threads[t].pid == trace.threads[timeline_.training_thread_].pid;
    if (t != timeline_.training_thread_ && same_process && thread_facts_[t].backward_nodes > 0) {
      timeline_.step_threads_.push_back(t);
    }
  }
}

void TimelineBuilder::IndexProducers() {
  const std::uint32_t thread = timeline_.training_thread_;
  const std::vector<Event>& events = timeline_.trace_.threads[thread].events;
  auto& producers = timeline_.producers_;
  producers.reserve(thread_facts_[thread].graph_ops);
  bool sorted = true;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.kind != EventKind::kOp || !(event.flags & wire::kOpGraph) || event.sequence == kNone) continue;
    if (!producers.empty() && producers.back().first == event.sequence) {
      producers.back().second.index = i;  // nested ops share a number: the deepest comes last
      continue;
    }
    sorted &= producers.empty() || producers.back().first < event.sequence;
    producers.push_back({event.sequence, {thread, i}});
  }
  if (sorted) return;
  std::ranges::stable_sort(producers, [](const auto& a, const auto& b) { return a.first < b.first; });
  auto last = std::unique(producers.rbegin(), producers.rend(),
                          [](const auto& a, const auto& b) { return a.first == b.first; });
  producers.erase(producers.begin(), last.base());
}

}  // namespace loopscope
