// Which commits slow a program down: halving a history by gates of one commit against another.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace loopscope {

enum class CommitVerdict { kSlower, kNotSlower, kUnknown };
std::string_view CommitVerdictName(CommitVerdict verdict);  // "slower", "not slower", "unknown"

// Whether one commit is slower than another; both by their place in the history, in which 0 is the good one.
using CommitJudge = std::function<CommitVerdict(int base, int commit)>;

struct SlowCommit {
  int commit = 0, base = 0;  // base: the commit that it was judged against
  std::vector<int> maybe;    // unjudged commits just before it: the slow one may be among them
};

struct Bisection {
  CommitVerdict whole = CommitVerdict::kUnknown;  // of the last commit against the first
  std::vector<SlowCommit> found;                  // in the history's order, each slower than what came before it
  bool rest_unknown = false;                      // whether more commits after the last of them slow it down
};

// `last`: the place of the bad one, at least 1. A commit that cannot be judged is replaced by the nearest one that can.
// After each commit found, the last one is judged against it, so that a second slow commit is not masked.
Bisection Bisect(int last, const CommitJudge& judge);

}  // namespace loopscope
