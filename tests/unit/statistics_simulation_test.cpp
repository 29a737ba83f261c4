// The procedures on simulated launches: coverage, false calls and power. Every bound is the figure of
// docs/measurement.md with a tolerance of about three standard errors of the simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/core/statistics/statistics.h"
#include "tests/support/sanitized.h"

namespace loopscope {
namespace {

constexpr int kExperiments = test::kSanitized ? 200 : 1500;
constexpr double kLaunchNoise = 0.04;

enum class Noise { kNormal, kHeavy };

// Draws of standard deviation 1.
class Draw {
 public:
  Draw(Noise noise, unsigned seed) : noise_(noise), random_(seed) {}
  double operator()() { return noise_ == Noise::kNormal ? normal_(random_) : heavy_(random_) / std::sqrt(3.0); }

 private:
  Noise noise_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3};  // its variance is 3
};

struct Setting {
  int treatments = 10, blocks = 6, repeats = 3;
  Noise noise = Noise::kNormal;
  double reference_noise = 1;  // times that of the other arms
  double first_noise = 1;      // of the first treatment's arm, times that of the others
  double effect = 0;           // of the first treatment, on the log scale
  double drift = 0;            // per block, and a common jolt of this size
};

std::vector<std::vector<double>> Simulate(const Setting& setting, Draw& draw) {
  std::vector<std::vector<double>> arms(setting.treatments);
  for (int block = 0; block < setting.blocks; ++block) {
    const double level = setting.drift * (block + draw());
    double reference = 0;
    for (int r = 0; r < setting.repeats; ++r) {
      reference += (level + setting.reference_noise * kLaunchNoise * draw()) / setting.repeats;
    }
    for (int i = 0; i < setting.treatments; ++i) {
      const double own = kLaunchNoise * (i == 0 ? setting.first_noise : 1) * draw();
      arms[i].push_back(level + (i == 0 ? setting.effect : 0) + own - reference);
    }
  }
  return arms;
}

struct Rates {
  double any_call = 0, first_called = 0, first_covered = 0;
};

Rates Repeat(const Setting& setting, unsigned seed) {
  Draw draw(setting.noise, seed);
  Rates rates;
  for (int e = 0; e < kExperiments; ++e) {
    const std::vector<Effect> effects = CompareWithReference(Simulate(setting, draw), std::log(1.02));
    std::vector<double> p;
    for (const Effect& effect : effects) p.push_back(effect.p);
    const std::vector<double> adjusted = Holm(p);
    rates.any_call += std::ranges::any_of(adjusted, [](double one) { return one <= 0.05; });
    rates.first_called += adjusted[0] <= 0.05;
    rates.first_covered += effects[0].ci95->low <= setting.effect && setting.effect <= effects[0].ci95->high;
  }
  for (double* rate : {&rates.any_call, &rates.first_called, &rates.first_covered}) *rate /= kExperiments;
  return rates;
}

double ThreeErrors(double rate) {
  return 3 * std::sqrt(rate * (1 - rate) / kExperiments);
}

TEST(Simulation, PooledFormRarelyCallsTreatmentsThatDoNothing) {
  unsigned seed = 1;
  for (const int blocks : {4, 6, 8}) {
    for (const Noise noise : {Noise::kNormal, Noise::kHeavy}) {
      for (const double reference_noise : {1.0, 2.0, 4.0}) {
        const Rates rates = Repeat({.blocks = blocks, .noise = noise, .reference_noise = reference_noise}, seed++);
        EXPECT_LE(rates.any_call, 0.05 + ThreeErrors(0.05)) << blocks << " blocks, reference x" << reference_noise;
      }
    }
  }
}

TEST(Simulation, PooledFormHoldsWithOneNoisyArm) {
  unsigned seed = 50;
  for (const int treatments : {3, 10}) {
    for (const int blocks : {4, 6, 8}) {
      for (const double first_noise : {2.0, 4.0}) {
        const Rates rates = Repeat({.treatments = treatments, .blocks = blocks, .first_noise = first_noise}, seed++);
        EXPECT_LE(rates.any_call, 0.06 + ThreeErrors(0.06)) << blocks << " blocks, arm x" << first_noise;
      }
    }
  }
}

// With one run of the reference per block; more runs only raise these.
TEST(Simulation, PooledFormFindsRealEffects) {
  const std::pair<int, double> kCalledAtTenPercent[] = {{4, 0.49}, {6, 0.83}, {8, 0.96}};
  unsigned seed = 100;
  for (const auto& [blocks, called] : kCalledAtTenPercent) {
    const Rates once = Repeat({.blocks = blocks, .repeats = 1, .effect = std::log(1.1)}, seed++);
    EXPECT_NEAR(once.first_called, called, 0.03 + ThreeErrors(called)) << blocks;
    const Rates thrice = Repeat({.blocks = blocks, .repeats = 3, .effect = std::log(1.1)}, seed++);
    EXPECT_GE(thrice.first_called, once.first_called) << blocks;
    const Rates large = Repeat({.blocks = blocks, .repeats = 1, .effect = std::log(1.2)}, seed++);
    EXPECT_GE(large.first_called, 0.98 - ThreeErrors(0.98)) << blocks;
    EXPECT_GE(once.first_covered, 0.95 - ThreeErrors(0.95)) << blocks;
  }
}

TEST(Simulation, ExactIntervalCoversUnderDriftAndHeavyTails) {
  unsigned seed = 200;
  for (const Noise noise : {Noise::kNormal, Noise::kHeavy}) {
    for (const double drift : {0.0, 0.05}) {
      const Rates rates =
          Repeat({.treatments = 1, .blocks = 10, .repeats = 1, .noise = noise, .effect = std::log(1.1), .drift = drift},
                 seed++);
      EXPECT_NEAR(rates.first_covered, 0.951, ThreeErrors(0.951));  // 1 - 2 P(W <= 8) at n = 10
    }
  }
}

TEST(Simulation, ExactFormRarelyCallsTreatmentsThatDoNothing) {
  unsigned seed = 300;
  for (const Noise noise : {Noise::kNormal, Noise::kHeavy}) {
    for (const double reference_noise : {1.0, 4.0}) {
      const Rates rates = Repeat(
          {.blocks = 12, .repeats = 1, .noise = noise, .reference_noise = reference_noise, .drift = 0.05}, seed++);
      EXPECT_LE(rates.any_call, 0.05 + ThreeErrors(0.05));
    }
  }
}

}  // namespace
}  // namespace loopscope
