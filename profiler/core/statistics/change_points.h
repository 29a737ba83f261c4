// Where the level of a series changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace loopscope {

// The first index of each new level, ascending: the partition into levels that minimises the squared deviations from
// each level's mean plus a penalty per change (optimal partitioning: Jackson et al. 2005, IEEE Signal Processing
// Letters 12; the problem that PELT solves faster: Killick, Fearnhead and Eckley 2012, J. Am. Stat. Assoc. 107). The
// spread of the values comes from the differences of neighbours (median / 0.6745 / sqrt 2), so that changes of level do
// not widen it; the penalty is 3 ln n squared spreads (the leading term of Zhang and Siegmund 2007, Biometrics 63). A
// level lasts at least `least` values. Empty for fewer than 2 * least values, and for a series that does not vary.
std::vector<std::size_t> ChangePoints(std::span<const double> values, std::size_t least = 3);

}  // namespace loopscope
