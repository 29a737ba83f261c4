#include "analyzers/shared/device_memory.h"

#include "analyzers/shared/evidence.h"

namespace loopscope {
namespace {

enum class Call : std::uint8_t { kNone, kAllocate, kFree, kOther };

Call CallOf(std::string_view name) {
  if (name == "cudaMalloc" || name == "hipMalloc" || name == "cuMemCreate") return Call::kAllocate;
  if (name == "cudaFree" || name == "hipFree" || name == "cuMemUnmap") return Call::kFree;
  return Call::kOther;
}

// One thread's calls in order.
class Reader {
 public:
  Reader(const Timeline& timeline, std::vector<MemoryReturn>& returns) : timeline_(timeline), returns_(returns) {
    for (const std::string& name : timeline.trace().strings) calls_.push_back(CallOf(name));
  }

  void Read(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (!event.is_range(RangeCategory::kDeviceCall) || event.name >= calls_.size()) return;
    if (ref.thread != thread_) last_ = Call::kNone, open_ = false;
    thread_ = ref.thread;
    const Call call = calls_[event.name];
    if (call == Call::kFree) Free(ref, event);
    if (call == Call::kAllocate && open_) {
      ++returns_.back().allocations;
      returns_.back().ms += Ms(event.duration_ns());
    }
    last_ = call;
    last_end_ns_ = event.end_ns;
  }

 private:
  void Free(EventRef ref, const Event& event) {
    if (last_ != Call::kFree || !open_) {
      MemoryReturn one;
      const bool found_no_room = last_ == Call::kAllocate && event.start_ns - last_end_ns_ <= kMaxIssueGapNs;
      // Operators allocate; a program empties the cache between them.
      const auto is_op = [](const Event& above) { return above.kind == EventKind::kOp; };
      one.retry = found_no_room || HasAncestor(timeline_, ref, is_op);
      if (const Where* where = timeline_.where(ref)) one.where = *where;
      returns_.push_back(one);
      open_ = true;
    }
    ++returns_.back().frees;
    returns_.back().ms += Ms(event.duration_ns());
  }

  const Timeline& timeline_;
  std::vector<MemoryReturn>& returns_;
  std::vector<Call> calls_;
  std::uint32_t thread_ = kNone;
  Call last_ = Call::kNone;
  std::int64_t last_end_ns_ = 0;
  bool open_ = false;
};

}  // namespace

std::vector<MemoryReturn> MemoryReturns(const Timeline& timeline) {
  std::vector<MemoryReturn> returns;
  Reader reader(timeline, returns);
  timeline.ForEachSteady([&](EventRef ref) { reader.Read(ref); });
  return returns;
}

MemoryReturnSum SumOf(const std::vector<MemoryReturn>& returns, bool retry) {
  MemoryReturnSum sum;
  double most = -1;
  for (const MemoryReturn& one : returns) {
    if (one.retry != retry) continue;
    ++sum.times;
    sum.frees += one.frees;
    sum.allocations += one.allocations;
    sum.ms += one.ms;
    if (!one.where || one.ms <= most) continue;
    most = one.ms;
    sum.where = one.where;
  }
  return sum;
}

}  // namespace loopscope
