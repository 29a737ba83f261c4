#include "analyzers/shared/events.h"

namespace loopscope {

NameSet::NameSet(const Trace& trace, bool (*accepts)(std::string_view)) : accepted_(trace.strings.size()) {
  for (std::size_t i = 0; i < trace.strings.size(); ++i) accepted_[i] = accepts(trace.strings[i]);
}

EventRef Ancestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts) {
  for (std::uint32_t up = timeline.parent(ref); up != kNone; up = timeline.parent({ref.thread, up})) {
    if (accepts(timeline.event({ref.thread, up}))) return {ref.thread, up};
  }
  return {kNone, kNone};
}

bool HasAncestor(const Timeline& timeline, EventRef ref, const std::function<bool(const Event&)>& accepts) {
  return Exists(Ancestor(timeline, ref, accepts));
}

}  // namespace loopscope
