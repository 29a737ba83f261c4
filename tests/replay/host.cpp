#include "tests/replay/host.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "probes/capture/records.h"

namespace loopscope::replay {
namespace {

constexpr const char* kClock = "optimizer:SGD#1";  // what ends a step

template <class Timed>
std::uint64_t EndOf(const Timed& timed) {
  return timed.start + timed.duration;
}

}  // namespace

std::map<std::uint32_t, std::uint32_t> PlayedHost::Start() {
  for (const auto& [number, thread] : program_.threads) {
    threads_.emplace_back(&PlayedHost::Play, this, number, std::cref(thread));
  }
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return ids_.size() == threads_.size(); });
  return ids_;
}

void PlayedHost::Run() {
  {
    const std::lock_guard guard(lock_);
    running_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PlayedHost::Play(std::uint32_t number, const Thread& thread) {
  {
    std::unique_lock guard(lock_);
    ids_[number] = static_cast<std::uint32_t>(gettid());
    changed_.notify_all();
    changed_.wait(guard, [this] { return running_; });
  }
  std::vector<std::pair<std::uint64_t, std::function<void()>>> writes;
  for (const Op& op : thread.ops) writes.emplace_back(EndOf(op), [this, &op] { WriteOp(op); });
  for (const Range& range : thread.ranges) writes.emplace_back(EndOf(range), [this, &range] { WriteRange(range); });
  if (number == program_.trainer && !program_.step_ends.empty()) {
    writes.emplace_back(program_.begin, [this] { WriteBegin(); });
    for (const std::uint64_t end : program_.step_ends) {
      writes.emplace_back(end, [this, end] { capture::WriteMarkAt(base_ns_ + end, wire::MarkKind::kStepEnd, kClock); });
    }
  }
  std::ranges::stable_sort(writes, {}, [](const auto& one) { return one.first; });
  for (const auto& [end, write] : writes) write();
  if (number != program_.trainer || program_.step_ends.empty()) return;
  capture::WriteMarkAt(base_ns_ + program_.step_ends.back(), wire::MarkKind::kMeasureEnd, {},
                       program_.step_ends.size());
}

void PlayedHost::WriteBegin() const {
  capture::WriteMarkAt(base_ns_ + program_.begin, wire::MarkKind::kStepEnd, kClock);
  if (program_.warm) capture::WriteMarkAt(base_ns_ + program_.begin, wire::MarkKind::kMeasureBegin);
}

void PlayedHost::WriteOp(const Op& op) const {
  wire::OpRecord record{};
  record.head = capture::HeadOf<wire::OpRecord>(wire::RecordKind::kOp, op.backward ? 1 : 0);
  record.name = capture::StringId(program_.names.at(op.name));
  record.start_ns = base_ns_ + op.start;
  record.sequence = op.sequence < 0 ? wire::kNoSequence : static_cast<std::uint32_t>(op.sequence);
  record.flags = static_cast<std::uint16_t>(wire::kOpGradMode | (op.graph ? wire::kOpGraph : 0));
  const bool is_long = op.duration > std::numeric_limits<std::uint32_t>::max();
  if (is_long) record.flags |= wire::kOpLongDuration;
  record.duration = static_cast<std::uint32_t>(is_long ? op.duration / 1024 : op.duration);
  capture::Append(&record, sizeof record);
}

void PlayedHost::WriteRange(const Range& range) const {
  capture::WriteRange(static_cast<wire::RangeCategory>(range.category),
                      capture::StringId(program_.names.at(range.name)), base_ns_ + range.start,
                      base_ns_ + EndOf(range));
}

}  // namespace loopscope::replay
