#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "profiler/cli/option_values.h"
#include "profiler/cli/parse.h"
#include "profiler/core/text.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// Options that are given once per item of a list; for the others a list is one value.
const std::set<std::string> kRepeated = {"against", "against-env", "workload"};

class ConfigReader {
 public:
  ConfigReader(const fs::path& file, const std::string& command, const OptionNames& names)
      : file_(file), command_(command), names_(names) {}

  Result<std::vector<std::string>> Read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      const bool is_command = node.is_table() && names_.contains(name);
      const auto read = is_command ? Table(name, *node.as_table()) : Top(name, node);
      if (!read) return read.error();
    }
    return std::move(arguments_);
  }

 private:
  Result<void> Top(const std::string& key, const toml::node& node) {
    std::vector<std::string> all;
    for (const auto& [command, names] : names_) all.insert(all.end(), names.begin(), names.end());
    if (std::ranges::find(all, key) == all.end()) return Unknown(key, node, all);
    return names_.at(command_).contains(key) ? Add(key, node) : Result<void>();
  }

  Result<void> Table(const std::string& command, const toml::table& table) {
    const std::set<std::string>& names = names_.at(command);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!names.contains(name)) return Unknown(command + "." + name, node, {names.begin(), names.end()});
      if (command != command_) continue;
      if (const auto added = Add(name, node); !added) return added;
    }
    return {};
  }

  Result<void> Add(const std::string& key, const toml::node& node) {
    if (const auto* each = node.as_array(); each && kRepeated.contains(key)) {
      for (const toml::node& one : *each) {
        if (const auto added = Add(key, one); !added) return added;
      }
      return {};
    }
    if (const auto* flag = node.as_boolean()) {
      if (flag->get()) arguments_.push_back("--" + key);
      return {};
    }
    const std::optional<std::string> value = node.is_array() ? List(*node.as_array()) : Scalar(node);
    if (!value) {
      return Error{fmt::format("`{}` must be text, a number, true or false, or a list of text", key), Place(node),
                   "write it as on the command line"};
    }
    arguments_.push_back("--" + key + "=" + *value);
    return {};
  }

  static std::optional<std::string> Scalar(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    return std::nullopt;
  }

  static std::optional<std::string> List(const toml::array& array) {
    std::string joined;
    for (const toml::node& item : array) {
      const auto text = Scalar(item);
      if (!text) return std::nullopt;
      joined += (joined.empty() ? "" : ",") + *text;
    }
    return joined;
  }

  Error Unknown(const std::string& key, const toml::node& node, const std::vector<std::string>& choices) const {
    const std::string last = key.substr(key.rfind('.') + 1);
    const std::string nearest = Nearest(last, choices);
    return {fmt::format("unknown option `{}`", key), Place(node),
            nearest.empty() ? "see `loopscope " + command_ + " --help` for the options"
                            : "did you mean `" + nearest + "`?"};
  }

  std::string Place(const toml::node& node) const {
    return fmt::format("{}:{}", file_.native(), node.source().begin.line);
  }

  const fs::path& file_;
  const std::string& command_;
  const OptionNames& names_;
  std::vector<std::string> arguments_;
};

}  // namespace

Result<std::vector<std::string>> ReadConfig(const fs::path& file, const std::string& command,
                                            const OptionNames& names) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return Error{"no such configuration file", file, "check the path given with --config"};
  }
  try {
    return ConfigReader(file, command, names).Read(toml::parse_file(file.native()));
  } catch (const toml::parse_error& problem) {
    return Error{"not valid TOML: " + std::string(problem.description()),
                 fmt::format("{}:{}", file.native(), problem.source().begin.line), "correct that line"};
  }
}

}  // namespace loopscope
