// The command line of `loopscope COMMAND [options] [INPUT…] [-- CMD…]`, and the file of options that it may name.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiler/cli/command.h"
#include "profiler/cli/options.h"
#include "profiler/core/result.h"

namespace loopscope {

// `arguments` without the program's name. Errors (exit 2) say what, where and what to do.
Result<Options> ParseOptions(Commands commands, const std::vector<std::string>& arguments);

// Options from a TOML file: keys are long option names; [prove] and the like hold those of one command.
using OptionNames = std::map<std::string, std::set<std::string>>;  // by command, without the dashes

// The file's options for `command` as arguments ("--blocks=8"). A key at the top holds for every command that knows it.
// Errors (exit 2), with file:line: not TOML, an option that no command (or not this table's) knows, a value that is
// neither text, number, yes/no nor a list of text.
Result<std::vector<std::string>> ReadConfig(const std::filesystem::path& file, const std::string& command,
                                            const OptionNames& names);

}  // namespace loopscope
