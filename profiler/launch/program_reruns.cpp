#include <array>
#include <filesystem>
#include <regex>
#include <string_view>

#include "profiler/launch/outcome.h"
#include "profiler/launch/program.h"

namespace loopscope {
namespace {

Error NotAgain(const std::vector<std::string>& command, const std::string& what, const std::string& next) {
  return {what, Shown(command), next};
}

// The first descriptor above 2 that a shell's text, or any word, names; empty: none.
std::string DescriptorIn(const std::string& word) {
  static const std::regex path("/(?:dev|proc/(?:self|[0-9]+))/fd/([0-9]+)");
  std::smatch found;
  if (std::regex_search(word, found, path) && std::stol(found[1].str().substr(0, 9)) > 2) return found[0];
  return "";
}

std::string RedirectionIn(const std::string& text) {
  static const std::regex redirection("[<>]&[ \t]*([3-9]|[1-9][0-9]+)");
  // Descriptors that the text opens itself (`exec 3>log`) are fine.
  static const std::regex opened("(^|[ \t;&|(])([0-9]+)[<>]");
  std::smatch found;
  if (!std::regex_search(text, found, redirection)) return "";
  for (std::sregex_iterator at(text.begin(), text.end(), opened), end; at != end; ++at) {
    if ((*at)[2] == found[1]) return "";
  }
  return found[0];
}

bool ReadsStandardInput(const std::string& word) {
  return word == "/dev/stdin" || word == "/dev/fd/0" || word == "/proc/self/fd/0";
}

// `python -`, `python3 -u -`, `sh -s`: the program itself comes from standard input.
bool IsScriptFromInput(const std::vector<std::string>& command, std::size_t i) {
  const std::string name = std::filesystem::path(command[i]).filename();
  const bool python = name.starts_with("python"), shell = name == "sh" || name == "bash" || name == "dash";
  if (!python && !shell) return false;
  for (std::size_t at = i + 1; at < command.size(); ++at) {
    const std::string& word = command[at];
    if (word == (python ? "-" : "-s")) return true;
    if (!word.starts_with('-') || word.ends_with('c') || word.ends_with('m')) return false;
  }
  return command.size() == i + 1;
}

}  // namespace

Result<void> CheckRerunnable(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (const std::string descriptor = DescriptorIn(word); !descriptor.empty()) {
      return NotAgain(command, "reruns cannot read " + descriptor + ", which is open in this shell once",
                      "write what it holds to a file, and name that");
    }
    if (ReadsStandardInput(word) || IsScriptFromInput(command, i)) {
      return NotAgain(command, "it reads standard input, which reruns do not have",
                      "write what it reads to a file, and name that");
    }
    const bool shell_text = i > 0 && command[i - 1].starts_with('-') && command[i - 1].ends_with('c');
    if (const std::string used = shell_text ? RedirectionIn(word) : ""; !used.empty()) {
      return NotAgain(command, "it uses the descriptor of `" + used + "`, which reruns do not have",
                      "open the file in the command itself");
    }
  }
  return {};
}

}  // namespace loopscope
