#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>

#include "profiler/launch/program.h"

namespace loopscope {
namespace {

using Words = std::span<const std::string>;

constexpr std::array<std::string_view, 9> kWrappers{"env",     "nice",   "time",   "timeout", "taskset",
                                                    "numactl", "stdbuf", "setsid", "nohup"};
constexpr std::array<std::string_view, 4> kShells{"sh", "bash", "dash", "zsh"};
constexpr std::array<std::string_view, 8> kContainers{"docker",      "podman",    "nerdctl", "kubectl",
                                                      "singularity", "apptainer", "enroot",  "chroot"};
constexpr std::array<std::string_view, 4> kRemote{"ssh", "rsh", "mosh", "pdsh"};
constexpr std::array<std::string_view, 3> kClearing{"sudo", "doas", "su"};

template <std::size_t kSize>
bool Is(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string FileName(const std::string& word) {
  return std::filesystem::path(word).filename();
}

// The option on Python's command line that disables sitecustomize or PYTHONPATH: 'I', 'E' or 'S'; 0: there is none.
char Isolation(Words arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-'; ++i) {
    const std::string& word = arguments[i];
    if (word == "--" || word[1] == '-') continue;
    for (std::size_t at = 1; at < word.size(); ++at) {
      const char option = word[at];
      if (option == 'I' || option == 'E' || option == 'S') return option;
      if (option == 'c' || option == 'm') return 0;  // the rest belongs to the program
      if (option != 'W' && option != 'X') continue;
      i += at + 1 == word.size();  // their value is the next word
      break;
    }
  }
  return 0;
}

std::optional<std::string> OfPython(Words arguments) {
  const char option = Isolation(arguments);
  if (option == 0) return std::nullopt;
  return fmt::format("`python -{}` {}: run it without that option", option,
                     option == 'S' ? "leaves out sitecustomize, through which the probes come in"
                                   : "ignores PYTHONPATH, through which the probes come in");
}

std::optional<std::string> OfShell(Words arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size() && arguments[i].starts_with('-'); ++i) {
    if (!arguments[i].ends_with('c')) continue;
    std::istringstream text(arguments[i + 1]);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    return WhyUnreachable(words);
  }
  return std::nullopt;
}

// A wrapper's own options, their numbers, and variables that it sets.
bool BelongsToWrapper(const std::string& word) {
  return word.starts_with('-') || std::isdigit(static_cast<unsigned char>(word[0])) || word.find('=') != word.npos;
}

}  // namespace

std::optional<std::string> WhyUnreachable(const std::vector<std::string>& command) {
  bool wrapped = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string name = FileName(command[i]);
    if (Is(kWrappers, name) || name == "exec") {
      wrapped = true;
      continue;
    }
    if (wrapped && !command[i].empty() && BelongsToWrapper(command[i])) continue;
    const Words arguments = Words(command).subspan(i + 1);
    if (name.starts_with("python")) return OfPython(arguments);
    if (Is(kShells, name)) return OfShell(arguments);
    if (Is(kContainers, name)) {
      return fmt::format("`{}` starts it in a world of its own, where the probes are not: run loopscope inside it",
                         name);
    }
    if (Is(kRemote, name)) {
      return fmt::format("`{}` starts it on another machine, where the probes are not: run loopscope there", name);
    }
    if (Is(kClearing, name)) {
      return fmt::format(
          "`{0}` clears the environment, through which the probes come in: run `{0} loopscope …` instead", name);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace loopscope
