#include "profiler/cli/command.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/core/seam.h"

namespace loopscope {

const Command* FindCommand(Commands commands, std::string_view id) {
  return FindById(commands, id);
}

Error WrongUsage(const Command& command, std::string what, std::string next) {
  if (next.empty()) next = fmt::format("see `loopscope {} --help`", command.id);
  return {std::move(what), std::string(command.id), std::move(next)};
}

Error WrongWords(const Command& command, std::string what) {
  return WrongUsage(command, std::move(what), fmt::format("loopscope {}", command.usage));
}

}  // namespace loopscope
