#include <unistd.h>

#include <filesystem>
#include <string>

#include "profiler/commands/session.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/launch/outcome.h"
#include "profiler/launch/program.h"
#include "profiler/system/terminal.h"

namespace loopscope {

Error Exposed(const Containment& containment) {
  std::string list;
  for (const std::string& one : containment.exposed) list += "\n    " + one;
  const char* const way_out = geteuid() == 0 ? "run it where the chroot or container does not forbid mounts"
                                             : "run it as root, or where user namespaces are allowed";
  return {"launches cannot be kept from changing real files (" + containment.why_no_overlay + "); exposed are:" + list,
          std::filesystem::current_path(),
          std::string(way_out) +
              " (`loopscope doctor` says what works here); if the launches may change these files, "
              "pass --allow-writes"};
}

// A run goes on unobserved, since it takes the program's place; trials of an unobserved program would measure nothing.
Result<void> CheckReach(const std::vector<Side>& sides, bool trials) {
  for (const Side& side : sides) {
    if (const auto again = trials ? CheckRerunnable(side.command) : Result<void>(); !again) return again;
    auto why = WhyUnreachable(side.command);
    if (const std::string not_preloaded = WhyNotPreloaded(side.Resolved()); !why && !not_preloaded.empty()) {
      why = not_preloaded;
    }
    if (!why) continue;
    if (trials) return Error{"the program cannot be observed", Shown(side.command), *why, 3};
    Say("loopscope: this run is not observed: " + *why);
  }
  return {};
}

}  // namespace loopscope
