#include "profiler/importers/kineto/whole_microseconds.h"

#include <algorithm>
#include <unordered_map>

namespace loopscope {
namespace {

constexpr std::int64_t kGrainNs = 1'000;

bool AllWhole(std::int64_t base_ns, const std::vector<Event>& events) {
  return std::ranges::all_of(events, [&](const Event& event) {
    return (event.start_ns - base_ns) % kGrainNs == 0 && (event.end_ns - base_ns) % kGrainNs == 0;
  });
}

// How much more often events of one name were plainly inside those of another than plainly after them.
class Nesting {
 public:
  void Add(StringId outer, StringId inner, bool inside) { by_names_[Key(outer, inner)] += inside ? 1 : -1; }
  int Of(StringId outer, StringId inner) const {
    const auto found = by_names_.find(Key(outer, inner));
    return found == by_names_.end() ? 0 : found->second;
  }

 private:
  static std::uint64_t Key(StringId outer, StringId inner) { return std::uint64_t{outer} << 32 | inner; }
  std::unordered_map<std::uint64_t, int> by_names_;
};

class Separation {
 public:
  explicit Separation(std::vector<Event>& events) : events_(events) {}

  void Run() {
    learning_ = true;
    Walk();
    learning_ = false;
    Walk();
  }

 private:
  struct Open {
    std::size_t index;
    std::int64_t start_ns, end_ns;  // as in the file
  };

  // Goes through the events as they began and ended.
  void Walk() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Open next{i, events_[i].start_ns, events_[i].end_ns};
      for (; !open_.empty() && !Inside(open_.back(), next); open_.pop_back()) Leave(open_.back(), next.start_ns);
      if (!learning_) last_ns_ = events_[i].start_ns = std::max(next.start_ns, last_ns_);
      open_.push_back(next);
    }
    for (; !open_.empty(); open_.pop_back()) Leave(open_.back(), INT64_MAX);
  }

  void Leave(const Open& left, std::int64_t next_start_ns) {
    if (learning_) return;
    Event& event = events_[left.index];
    event.end_ns = std::max(left.end_ns, event.start_ns + 1);
    if (left.end_ns > next_start_ns) return;  // neither inside the other: their times stay
    last_ns_ = event.end_ns = std::max(event.end_ns, last_ns_);
  }

  // An event that begins before another's end is inside it: both ends are rounded, so that its own may seem later. One
  // without length at the end of another may be inside it or after it.
  bool Inside(const Open& outer, const Open& event) {
    const StringId outer_name = events_[outer.index].name, name = events_[event.index].name;
    const bool touches = event.start_ns == outer.end_ns && event.end_ns == event.start_ns;
    if (!touches) {
      const bool inside = event.start_ns < outer.end_ns && event.end_ns <= outer.end_ns + kGrainNs;
      if (learning_) nesting_.Add(outer_name, name, inside);
      return inside;
    }
    if (learning_) return false;
    const int known = nesting_.Of(outer_name, name);
    return known != 0 ? known > 0 : outer.end_ns == outer.start_ns && name != outer_name;
  }

  std::vector<Event>& events_;
  std::vector<Open> open_;
  Nesting nesting_;
  std::int64_t last_ns_ = INT64_MIN;
  bool learning_ = true;
};

}  // namespace

void SeparateWholeMicroseconds(std::int64_t base_ns, std::vector<Event>& events) {
  if (!AllWhole(base_ns, events)) return;
  Separation(events).Run();
}

}  // namespace loopscope
