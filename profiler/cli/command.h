// A command as its command line is parsed.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

struct Options;

struct Command {
  std::string_view id, summary;
  std::string_view usage, example;     // usage without "loopscope"
  bool reports;                        // --json, --format …
  bool launches;                       // -o, --warmup …
  bool diagnoses;                      // --time
  bool experiments;                    // --blocks …
  bool program;                        // takes `-- CMD`
  int inputs;                          // words before it: 0, at most 1, or -1 for any number
  Result<int> (*run)(const Options&);  // the exit code
};

using Commands = std::span<const Command>;
const Command* FindCommand(Commands commands, std::string_view id);  // null when there is none

}  // namespace loopscope
