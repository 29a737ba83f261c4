// Numbers as people read them: "12.3 ms", "1.4 GB", "1.42x [1.37, 1.47]". Numbers that are not finite give "?".
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace loopscope {

std::string HumanMs(double ms);        // three digits and ns, µs, ms, s, min or h
std::string HumanBytes(double bytes);  // decimal: "1.4 GB"
std::string HumanCount(double count);  // "950", "12.3 k", "1.2 M"
std::string HumanPct(double pct);      // "8.7 %"; "38 %" from ten on
std::string HumanP(double p);          // "0.002", "<0.001"

// "1.42x [1.37, 1.47]", or "1.42x" without an interval.
std::string HumanSpeedup(double speedup, const std::optional<std::array<double, 2>>& ci95);

// Each value of `parts` with `decimals` digits after the point, rounded so that the printed values add up to their
// printed sum (largest remainder). Parts are finite and not negative.
std::vector<std::string> RoundedToSum(std::span<const double> parts, int decimals);

}  // namespace loopscope
