#include "profiler/cli/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "profiler/cli/command.h"
#include "profiler/cli/option_parsers.h"
#include "profiler/cli/option_values.h"
#include "profiler/cli/report_output.h"
#include "profiler/core/text.h"
#include "reports/formats.h"
#include "reports/text/page.h"

namespace loopscope {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kSummaryColumn = 14, kHelpColumn = 28;
std::string FormatNames() {
  std::string names;
  for (const Format* format : AllFormats()) names += (names.empty() ? "" : ", ") + std::string(format->id);
  return names;
}

std::string GeneralHelp(Commands commands) {
  Output output;
  Page page(output);
  page.Line({{"Finds what slows a training loop, says where, and proves each fix by measuring."}});
  page.Blank();
  page.Line({{"Usage: loopscope COMMAND [options] [-- CMD…]"}});
  page.Heading("Commands:");
  for (const Command* command : commands) {
    page.Entry(kSummaryColumn, {"  " + std::string(command->id)}, {command->summary});
  }
  page.Heading("Start with:");
  page.Line({{"  loopscope run -- python train.py      # what slows it; or any program that uses LibTorch"}});
  page.Line({{"  loopscope prove -- python train.py    # what each fix gains, measured"}});
  page.Line({{"  loopscope doctor                      # what works on this machine"}});
  page.Blank();
  page.Line({{"`loopscope COMMAND --help` lists the options of a command, `loopscope --version`"}});
  page.Line({{"prints the version. Put your own command after `--`, as you always start it."}});
  return output.bytes;
}

class Help : public CLI::Formatter {
 public:
  explicit Help(const Command& command) : command_(command) { label("Positionals", "Inputs"); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: loopscope {}\n", command_.usage);
  }
  std::string make_option(const CLI::Option* option, bool positional) const override {
    Output output;
    const std::string name = "  " + make_option_name(option, positional) + make_option_opts(option);
    Page(output).Entry(kHelpColumn, {name}, {make_option_desc(option)});
    return output.bytes;
  }

 private:
  const Command& command_;
};

class Parser {
 public:
  Parser(const Command& command, Options& options) : command_(command), options_(options) {
    app_.description(std::string(command.summary) + "\n");
    app_.formatter(std::make_shared<Help>(command));
    app_.footer("Example:\n  " + std::string(command.example));
    app_.set_help_flag("--help,-h", "print this");
    if (command.Has(kTakesFormats)) AddReporting();
    if (command.Has(kTakesLaunching)) AddRunning();
    if (command.Has(kTakesExperiment)) AddExperiment();
    if (command.add != nullptr) command.add(app_, options);
    if (command.inputs != 0) {
      const std::string text(command.inputs_text.empty() ? kInputsText : command.inputs_text);
      auto* inputs = app_.add_option("INPUT", options.inputs, text)->type_name("")->expected(-1);
      if (command.inputs == 1) inputs->group("")->expected(0, 1);
    }
  }

  CLI::App& app() { return app_; }

  // After parsing: which formats go to a file.
  void TakeFiles() {
    for (const auto& [id, file] : files_) {
      if (!file.empty()) options_.files[id] = file;
    }
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const CLI::Option* option : app_.get_options()) {
      for (const std::string& name : option->get_lnames()) names.insert(name);
    }
    names.erase("help");
    names.erase("config");
    return names;
  }

 private:
  template <class Value, class Parse>
  void Add(const char* names, Value& value, Parse parse, const char* expected, const char* shown, const char* text) {
    AddParsed(app_, names, value, parse, expected, shown, text);
  }

  void AddReporting() {
    AddPlace(app_, "--json", options_.json, "FILE", "also write to FILE: " + std::string(FindFormat("json")->purpose));
    for (const Format* format : AllFormats()) {
      const std::string id(format->id);
      if (id == "text" || id == "json") continue;
      const std::string where = format->folder ? "DIR" : "FILE", text = "also write to " + where + ": ";
      AddPlace(app_, "--" + id, files_[id], where.c_str(), text + std::string(format->purpose));
    }
    Last(app_.add_option("--format", options_.format, "print this instead of text: " + FormatNames()), "NAME");
    app_.add_flag("--quiet", options_.quiet, "no plan and no progress on standard error");
    app_.add_flag("--no-color", options_.no_color, "no colours, even on a terminal");
    Last(app_.add_option("--config", config_, "take options from a TOML file; those given here win"), "FILE");
  }

  void AddRunning() {
    AddPlace(app_, "-o,--output", options_.output, "DIR", "folder for what is recorded (loopscope-out/<time>)");
    Add("--warmup", options_.warmup, ParseWarmup, "a number of steps or `auto`", "N|auto",
        "steps before the measured ones (10); auto: until step times settle");
    Add("--steps", options_.steps, ParseCount, "a number of steps", "N",
        command_.Has(kTakesExperiment)
            ? "measured steps of each launch (as many as --min-window needs)"
            : "measured steps (50; more where short), then the program is ended; 0: to its own end");
    app_.add_flag("--yes", options_.yes, "build a probe for another torch without asking");
    if (command_.Has(kTakesDiagnosing)) {
      Add("--time", options_.time_s, ParseSeconds, "a time such as 90s or 2m", "T",
          fmt::format("go on for this long at most to see an epoch end and an evaluation ({}s)", options_.time_s)
              .c_str());
    }
    if (!command_.Has(kTakesExperiment)) {
      app_.add_flag("--watch", options_.watch, "show the step's time and parts while it runs, to its own end");
      Add("--max-capture", options_.max_capture_bytes, ParseCaptureBytes, "a size from 8M to 32G", "SIZE",
          "a process records this much at most (4G); then the oldest operators give way to the newest");
    }
  }

  void AddExperiment() {
    const char* const time = "a time such as 90s or 15m";
    if (command_.Has(kTakesBlocks)) {
      Add("--blocks", options_.blocks, ParseCount, "a number of blocks", "N",
          std::string(command_.blocks_text).c_str());
      Add("--margin", options_.margin, ParseShare, "a share such as 2%", "P",
          "differences up to this count as none (2%)");
    }
    const std::string budget = fmt::format("time for all launches ({:g}m)", options_.budget_s / 60);
    Add("--budget", options_.budget_s, ParseSeconds, time, "T", budget.c_str());
    Add("--min-window", options_.min_window_s, ParseSeconds, time, "T", "measured time of a launch at least (2s)");
    Add("--launch-timeout", options_.launch_timeout_s, ParseSeconds, time, "T",
        "a launch that takes longer is ended (10m; less once it is known how long launches take)");
    Add("--seed", options_.seed, ParseSeed, "a whole number", "N", "for the blocks' order and for the programs (1)");
    app_.add_flag("--no-seed", options_.no_seed, "leave the programs' random generators alone");
    app_.add_flag("--no-turns", options_.no_turns, "launches one after another, never side by side in turns");
    Last(app_.add_option("--prepare", options_.prepare, "shell command to run before each launch"), "CMD");
    app_.add_flag("--resume", options_.resume, "go on with the interrupted experiment in the folder of -o");
    if (command_.Has(kTakesBlocks)) {
      app_.add_flag("--reuse", options_.reuse, "keep this experiment; launches of an equal one that was kept count");
    }
    app_.add_flag("--allow-writes", options_.allow_writes, "go on where launches cannot be kept from the real files");
    app_.add_flag("--keep", options_.keep, "keep every launch's captures and output");
  }

  const Command& command_;
  Options& options_;
  std::string config_;
  std::map<std::string, std::string> files_;  // format → file; empty: not requested
  CLI::App app_;
};

std::optional<std::string> ConfigFile(const Words& arguments) {
  std::optional<std::string> file;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--config=")) file = arguments[i].substr(9);
    if (arguments[i] == "--config" && i + 1 < arguments.size()) file = arguments[i + 1];
  }
  return file;
}

void SetDefaults(const Command& command, Options& options) {
  if (command.set_defaults != nullptr) command.set_defaults(options);
}

OptionNames AllNames(Commands commands) {
  OptionNames names;
  for (const Command* command : commands) {
    Options ignored;
    names[std::string(command->id)] = Parser(*command, ignored).Names();
  }
  return names;
}

Error Unexpected(const Command& command, const std::string& what, const Words& arguments) {
  Options ignored;
  const std::set<std::string> names = Parser(command, ignored).Names();
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--")) continue;
    const std::string name = argument.substr(2, argument.find('=') - 2);
    if (names.contains(name) || name == "config" || name == "help") continue;
    const std::string nearest = Nearest(name, Words(names.begin(), names.end()));
    return WrongUsage(command, "unknown option --" + name, nearest.empty() ? "" : "did you mean --" + nearest + "?");
  }
  return WrongUsage(
      command, what,
      command.Has(kTakesProgram) ? "the program goes after `--`: loopscope " + std::string(command.usage) : "");
}

Result<void> ParseWith(Parser& parser, const Command& command, const Words& arguments, Options& options) {
  Words reversed(arguments.rbegin(), arguments.rend());
  try {
    parser.app().parse(reversed);
    parser.TakeFiles();
  } catch (const CLI::CallForHelp&) {
    options.text = parser.app().help();
  } catch (const CLI::ExtrasError&) {
    const Words extra = parser.app().remaining();
    return Unexpected(command, "unexpected `" + (extra.empty() ? "" : extra.front()) + "`", arguments);
  } catch (const CLI::ArgumentMismatch& problem) {
    const std::string what = problem.what();
    return WrongUsage(command,
                      what.starts_with("-") ? what.substr(0, what.find(':')) + " needs a value" : "too many words");
  } catch (const CLI::ParseError& problem) {
    return WrongUsage(command, problem.what());
  }
  return {};
}

Result<void> Check(const Command& command, Options& options) {
  if (command.check != nullptr) {
    if (const auto checked = command.check(command, options); !checked) return checked;
  }
  if (command.Has(kTakesProgram) && options.program.empty()) {
    return WrongWords(command, "no program to run: put it after `--`");
  }
  if (!command.Has(kTakesProgram) && !command.Has(kMayTakeProgram) && !options.program.empty()) {
    return WrongUsage(command, "takes no program after `--`");
  }
  if (!FindFormat(options.format))
    return WrongUsage(command, "unknown format `" + options.format + "`", "choose one of: " + FormatNames());
  if (options.resume && options.output.empty())
    return WrongUsage(command, "--resume needs the folder of the experiment", "name it with -o DIR");
  if (options.resume && options.reuse)
    return WrongUsage(command, "--resume and --reuse at once",
                      "--resume names the experiment, --reuse looks for an equal one");
  if (const auto kind = command.writes != nullptr ? command.writes(options) : std::nullopt) {
    if (const auto carried = CheckCarries(options, *kind); !carried) return carried;
  }
  return CheckFiles(options);
}

Error UnknownCommand(Commands commands, const std::string& word) {
  Words names;
  for (const Command* command : commands) names.emplace_back(command->id);
  const std::string nearest = Nearest(word, names);
  const std::string what = word.starts_with("-") ? "options go after the command" : "unknown command `" + word + "`";
  std::string next = nearest.empty() ? "" : "did you mean `" + nearest + "`? ";
  return {what, "", next + "Commands: " + fmt::format("{}", fmt::join(names, ", "))};
}

}  // namespace

Result<Options> ParseOptions(Commands commands, const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.empty()) return Error{"no command", "", GeneralHelp(commands)};
  const std::string& word = arguments.front();
  if (word == "--help" || word == "-h" || word == "help") options.text = GeneralHelp(commands);
  if (word == "--version") options.text = fmt::format("loopscope {}\n", LOOPSCOPE_VERSION);
  if (!options.text.empty()) return options;
  const Command* const command = FindCommand(commands, word);
  if (command == nullptr) return UnknownCommand(commands, word);
  options.command = word;
  SetDefaults(*command, options);
  // Everything after the first `--` belongs to the program.
  const auto dashes = std::find(arguments.begin() + 1, arguments.end(), "--");
  if (dashes != arguments.end()) options.program.assign(dashes + 1, arguments.end());
  Words own(arguments.begin() + 1, dashes);
  if (const auto file = ConfigFile(own); file && command->Has(kTakesFormats)) {
    auto from_file = ReadConfig(*file, word, AllNames(commands));
    if (!from_file) return from_file.error();
    own.insert(own.begin(), from_file->begin(), from_file->end());
  }
  Parser parser(*command, options);
  if (const auto parsed = ParseWith(parser, *command, own, options); !parsed) return parsed.error();
  if (!options.text.empty()) return options;
  if (const auto checked = Check(*command, options); !checked) return checked.error();
  return options;
}

}  // namespace loopscope
