// Which fix makes a launch of all of them fail, by bisection.
#pragma once

#include <functional>
#include <vector>

namespace loopscope {

struct CulpritSearch {
  std::vector<int> members;                               // that fail together, those to suspect most last
  std::size_t first = 0;                                  // how many of them are tried first; 0: half
  std::function<bool(const std::vector<int>&)> works;     // launches these alone
  std::function<bool()> may_go_on = [] { return true; };  // asked before each launch
};

struct Culprits {
  std::vector<int> suspects;  // the last of the shortest failing prefix; several if the search had to end early
  bool only_whole = false;    // all that was tried works: the last one is to blame, or none
};

Culprits FindCulprits(const CulpritSearch& search);

}  // namespace loopscope
