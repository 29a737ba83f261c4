#include "profiler/experiments/gate/bisection.h"

#include <set>

namespace loopscope {
namespace {

// The judgeable commit between the two that is nearest to the middle; 0: there is none.
int NearestToMiddle(int good, int bad, const std::set<int>& unknown) {
  const int middle = good + (bad - good) / 2;
  for (int away = 0; away < bad - good; ++away) {
    for (const int one : {middle - away, middle + away}) {
      if (one > good && one < bad && !unknown.contains(one)) return one;
    }
  }
  return 0;
}

SlowCommit FirstSlow(int base, int last, const CommitJudge& judge) {
  std::set<int> unknown;
  int good = base, bad = last;
  while (const int commit = NearestToMiddle(good, bad, unknown)) {
    const CommitVerdict verdict = judge(base, commit);
    if (verdict == CommitVerdict::kSlower) bad = commit;
    if (verdict == CommitVerdict::kNotSlower) good = commit;
    if (verdict == CommitVerdict::kUnknown) unknown.insert(commit);
  }
  return {bad, base, {unknown.upper_bound(good), unknown.lower_bound(bad)}};
}

}  // namespace

std::string_view CommitVerdictName(CommitVerdict verdict) {
  switch (verdict) {
    case CommitVerdict::kSlower:
      return "slower";
    case CommitVerdict::kNotSlower:
      return "not slower";
    case CommitVerdict::kUnknown:
      break;
  }
  return "unknown";
}

Bisection Bisect(int last, const CommitJudge& judge) {
  Bisection result;
  result.whole = judge(0, last);
  CommitVerdict rest = result.whole;
  for (int base = 0; rest == CommitVerdict::kSlower;) {
    result.found.push_back(FirstSlow(base, last, judge));
    base = result.found.back().commit;
    rest = base == last ? CommitVerdict::kNotSlower : judge(base, last);
  }
  result.rest_unknown = !result.found.empty() && rest == CommitVerdict::kUnknown;
  return result;
}

}  // namespace loopscope
