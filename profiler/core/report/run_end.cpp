#include "profiler/core/report/run_end.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace loopscope {
namespace {

constexpr int kOfSignal = 128;

}  // namespace

std::string HowItEnded(int exit_status) {
  if (exit_status <= 0) return "";
  const int signal = exit_status - kOfSignal;
  if (signal == SIGINT) return "was interrupted";
  if (signal > 0 && signal < NSIG) return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("ended with status {}", exit_status);
}

}  // namespace loopscope
