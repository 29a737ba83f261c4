// Descends a parabola, with a step size that Loopscope may set.
#include <loopscope.h>

#include <cstdio>
#include <string>

int main() {
  const std::string rate = loopscope::Knob("rate").value_or("0.1");
  double x = 1;
  for (int step = 0; step < 50; ++step) {
    x -= std::stod(rate) * 2 * x;
    loopscope::Metric("distance", x < 0 ? -x : x);
    loopscope::StepEnd(1);
  }
  loopscope::Applied("rate", "train.cpp", "0.1", rate.c_str());
  std::printf("%.6f\n", x);
}
