// Finds the fix that makes a launch of all fixes fail, by bisection.
#pragma once

#include <functional>
#include <vector>

namespace loopscope {

struct CulpritSearch {
  std::vector<int> members;                               // fixes that fail together, the most suspect last
  std::size_t first = 0;                                  // how many of them are tried first; 0: half
  std::function<bool(const std::vector<int>&)> works;     // launches these alone
  std::function<bool()> may_go_on = [] { return true; };  // asked before each launch
};

struct Culprits {
  std::vector<int> suspects;  // the last of the shortest failing prefix; several if the search had to end early
  bool only_whole = false;    // all tried subsets work: the last one is to blame, or none
};

Culprits FindCulprits(const CulpritSearch& search);

}  // namespace loopscope
