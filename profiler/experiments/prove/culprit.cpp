#include "profiler/experiments/prove/culprit.h"

#include <cstddef>

namespace loopscope {

Culprits FindCulprits(const CulpritSearch& search) {
  const std::vector<int>& all = search.members;
  const auto at = [&](std::size_t count) { return all.begin() + static_cast<std::ptrdiff_t>(count); };
  std::size_t works = 0, fails = all.size();
  std::size_t next = search.first > 0 && search.first < fails ? search.first : fails / 2;
  while (fails - works > 1 && search.may_go_on()) {
    (search.works({all.begin(), at(next)}) ? works : fails) = next;
    next = (works + fails) / 2;
  }
  return {.suspects = {at(works), at(fails)}, .only_whole = fails == all.size() && fails - works == 1};
}

}  // namespace loopscope
