// How a command's arguments are parsed: one constant at the end of its file in profiler/commands/.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profiler/cli/options.h"
#include "profiler/core/format.h"
#include "profiler/core/result.h"

namespace CLI {
class App;
}

namespace loopscope {

// Options that several commands share; or-ed together.
enum Takes : unsigned {
  kTakesNothing = 0,
  kTakesFormats = 1u << 0,     // --json, --format …
  kTakesLaunching = 1u << 1,   // -o, --warmup …
  kTakesDiagnosing = 1u << 2,  // --time
  kTakesExperiment = 1u << 3,  // --budget …
  kTakesBlocks = 1u << 4,      // --blocks, --margin, --reuse
  kTakesProgram = 1u << 5,     // `-- CMD`, and needs it
  kMayTakeProgram = 1u << 6,   // `-- CMD`, and runs without it too
};

inline constexpr int kAnyInputs = -1;

// Exit codes of commands; other errors carry theirs (Error::exit_code).
inline constexpr int kExitFailed = 1, kExitInconclusive = 3;

struct Command {
  std::string_view id, summary;
  std::string_view usage, example;  // usage without "loopscope"
  unsigned takes = kTakesNothing;
  int inputs = 0;                                             // INPUTs before `--`: 0, at most 1, or kAnyInputs
  std::string_view inputs_text = {};                          // what the inputs are; empty: recordings
  std::string_view blocks_text = {};                          // what its --blocks are, where it takes them
  void (*set_defaults)(Options&) = nullptr;                   // where they differ from those of Options
  void (*add)(CLI::App&, Options&) = nullptr;                 // its own options
  Result<void> (*check)(const Command&, Options&) = nullptr;  // its own conditions; error (exit 2)
  // The kind of report that it writes; empty: none, or that of its inputs.
  std::optional<ReportKind> (*writes)(const Options&) = nullptr;
  Result<int> (*run)(const Options&) = nullptr;  // the exit code

  bool Has(Takes one) const { return (takes & one) != 0; }
};

using Commands = std::span<const Command* const>;
const Command* FindCommand(Commands commands, std::string_view id);  // null when there is none

// A command line that `command` cannot run; `next` empty: its --help.
Error WrongUsage(const Command& command, std::string what, std::string next = "");
// Like WrongUsage, with the command's usage as what to do.
Error WrongWords(const Command& command, std::string what);

}  // namespace loopscope
