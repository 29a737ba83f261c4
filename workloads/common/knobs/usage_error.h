// A request that cannot be fulfilled: the program reports it in one line and ends with status 2.
#pragma once

#include <stdexcept>

namespace loopscope::train {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace loopscope::train
