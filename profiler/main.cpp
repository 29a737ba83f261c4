// loopscope COMMAND …: errors come together here, and nowhere else is anything said about them.
#include <malloc.h>

#include <cstdio>
#include <exception>

#include "profiler/cli/parse.h"
#include "profiler/commands/command_table.h"
#include "profiler/system/signals.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

// What is as long as a trace goes back to the system when it is freed. By itself the C library would soon put it on the
// heap, where the pieces between keep it.
void KeepHeapSmall() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

int Main(const std::vector<std::string>& arguments) {
  const Result<Options> options = ParseOptions(AllCommands(), arguments);
  if (options && !options->text.empty()) {
    Write(stdout, options->text);
    return 0;
  }
  const Result<int> code = options ? FindCommand(AllCommands(), options->command)->run(*options) : options.error();
  if (code) return *code;
  Say("loopscope: " + code.error().Message());
  return code.error().exit_code;
}

}  // namespace
}  // namespace loopscope

int main(int argc, char** argv) {
  try {
    loopscope::KeepHeapSmall();
    loopscope::IgnoreFileSizeSignal();
    return loopscope::Main({argv + 1, argv + argc});
  } catch (const std::exception& problem) {
    loopscope::Say(std::string("loopscope: unexpected: ") + problem.what() +
                   "\n  please report this with the command that you typed");
    return 2;
  }
}
