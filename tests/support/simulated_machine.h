// Step times of launches without programs or clock: noise between launches, drift, bursts that last for a few of them.
#pragma once

#include <cmath>
#include <random>
#include <vector>

namespace loopscope::test {

// A machine on which A and B are launched in turns, each pair in an order drawn by a fair coin.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {}

  double pair_noise = 0.04;  // sd of ln(T_B / T_A)
  double drift = 0;          // of the log, per launch
  double burst_chance = 0, burst = 0;
  bool heavy_tails = false;
  double slowdown = 0;

  std::vector<double> Pairs(int n) {
    std::vector<double> d;
    for (int pair = 0; pair < n; ++pair) {
      const bool b_first = coin_(random_);
      const double first = Launch(b_first), second = Launch(!b_first);
      d.push_back(b_first ? first - second : second - first);
    }
    return d;
  }

  // ln of the step time.
  double Launch(bool is_b) {
    time_ += drift;
    in_burst_ = unit_(random_) < (in_burst_ ? 0.7 : burst_chance);
    const double noise = heavy_tails ? heavy_(random_) / std::sqrt(3.0) : normal_(random_);
    return time_ + noise * pair_noise / std::sqrt(2.0) + (in_burst_ ? burst : 0) + (is_b ? std::log1p(slowdown) : 0);
  }

 private:
  std::mt19937 random_;
  std::bernoulli_distribution coin_{0.5};
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3};
  std::uniform_real_distribution<double> unit_{0, 1};
  double time_ = 0;
  bool in_burst_ = false;
};

}  // namespace loopscope::test
