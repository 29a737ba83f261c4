#include "profiler/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "profiler/cli/option_values.h"
#include "profiler/cli/parse.h"
#include "profiler/commands/command_table.h"
#include "profiler/core/text.h"

namespace loopscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

Options Parsed(const Words& arguments) {
  const auto options = ParseOptions(AllCommands(), arguments);
  if (!options) ADD_FAILURE() << options.error().Message();
  return options ? *options : Options{};
}

std::string Refused(const Words& arguments) {
  const auto options = ParseOptions(AllCommands(), arguments);
  EXPECT_FALSE(options.ok());
  if (options) return "";
  EXPECT_EQ(options.error().exit_code, 2);
  return options.error().Message();
}

TEST(Options, EverythingBehindTheFirstDashesIsTheProgram) {
  const Options options = Parsed({"run", "--quiet", "--", "./train", "--steps", "9", "--", "--json"});
  EXPECT_THAT(options.program, ElementsAre("./train", "--steps", "9", "--", "--json"));
  EXPECT_TRUE(options.quiet);
  EXPECT_FALSE(options.steps.has_value());
  EXPECT_EQ(options.json, "");
}

// A table of trials has no line for a gate's result: refuse instead of writing only a header.
TEST(Options, AFormatWithoutAPlaceForTheReportIsRefusedBeforeAnythingIsLaunched) {
  EXPECT_THAT(Refused({"gate", "--csv", "f", "--against", "./a", "--", "./b"}),
              AllOf(HasSubstr("the format `csv` has no place for a gate"), HasSubstr("choose one of: text, json")));
  EXPECT_THAT(Refused({"compare", "--csv", "f", "a", "b"}), HasSubstr("`csv` has no place for a comparison"));
  EXPECT_THAT(Refused({"compare", "--format", "junit", "a", "b"}), HasSubstr("`junit` has no place for a comparison"));
  EXPECT_THAT(Refused({"sweep", "threads=1,2", "--junit", "f", "--", "./a"}), HasSubstr("no place for a sweep"));
  EXPECT_THAT(Refused({"sweep", "threads=1,2", "--sarif", "f", "--", "./a"}), HasSubstr("no place for a sweep"));
  EXPECT_EQ(Parsed({"gate", "--junit", "f", "--against", "./a", "--", "./b"}).files.at("junit"), "f");
  EXPECT_EQ(Parsed({"sweep", "threads=1,2", "--csv", "f", "--", "./a"}).files.at("csv"), "f");
}

TEST(Options, AGatePairsItsCommandsInOrder) {
  const Options options = Parsed({"gate", "--against", "base/a --x 'one two'", "--workload", "./b", "--against",
                                  "base/b", "--max-slowdown", "3%", "--inconclusive", "fail", "--", "./a"});
  ASSERT_EQ(options.gate.workloads.size(), 2u);
  EXPECT_THAT(options.gate.workloads[0].command, ElementsAre("./a"));
  EXPECT_THAT(options.gate.workloads[0].against, ElementsAre("base/a", "--x", "one two"));
  EXPECT_THAT(options.gate.workloads[1].command, ElementsAre("./b"));
  EXPECT_THAT(options.gate.workloads[1].against, ElementsAre("base/b"));
  EXPECT_DOUBLE_EQ(options.gate.max_slowdown, 0.03);
  EXPECT_EQ(options.gate.undecided, Undecided::kFail);
}

TEST(Options, AGateInAnotherFolderOrEnvironmentRunsTheSameCommand) {
  const Options options =
      Parsed({"gate", "--against-dir", "../base", "--against-env", "A=1", "--against-env", "B=x=y", "--", "./a", "1"});
  EXPECT_THAT(options.gate.workloads[0].against, ElementsAre("./a", "1"));
  EXPECT_EQ(options.against_dir, "../base");
  EXPECT_EQ(options.against_env.at("A"), "1");
  EXPECT_EQ(options.against_env.at("B"), "x=y");
}

TEST(Options, AGateNeedsSomethingToGateAgainst) {
  EXPECT_THAT(Refused({"gate", "--", "./a"}), HasSubstr("nothing to gate against"));
  EXPECT_THAT(Refused({"gate", "--against", "./b", "--pairs", "4", "--", "./a"}),
              HasSubstr("fewer than 5 decide nothing"));
  EXPECT_THAT(Refused({"gate", "--against", "./a"}), HasSubstr("no program to run"));
  EXPECT_THAT(Refused({"gate", "--against", "./a", "--workload", "./b", "--", "./c"}),
              HasSubstr("2 commands, but 1 to gate against"));
  EXPECT_THAT(Refused({"gate", "--against", "''", "--", "./c"}), HasSubstr("empty"));
  EXPECT_THAT(Refused({"gate", "--against", "./a", "--against-env", "A", "--", "./c"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(Refused({"gate", "--against", "./a", "--inconclusive", "maybe", "--", "./c"}),
              HasSubstr("fail, pass or tell"));
  EXPECT_THAT(Refused({"gate", "--against", "./a", "--blocks", "3", "--", "./c"}), HasSubstr("unknown option"));
}

TEST(Options, ReadsWhatProveTakes) {
  const Options options = Parsed({"prove",
                                  "-o",
                                  "out dir",
                                  "--only",
                                  "amp=bf16, threads=2",
                                  "--skip=debug",
                                  "--budget",
                                  "15m",
                                  "--margin",
                                  "1.5%",
                                  "--min-window=500ms",
                                  "--blocks",
                                  "6",
                                  "--alone",
                                  "2",
                                  "--seed",
                                  "7",
                                  "--warmup",
                                  "auto",
                                  "--steps",
                                  "30",
                                  "--time",
                                  "1m",
                                  "--prepare",
                                  "rm -f x",
                                  "--keep",
                                  "--",
                                  "x"});
  EXPECT_EQ(options.output, "out dir");
  EXPECT_THAT(options.selection.only, ElementsAre("amp=bf16", "threads=2"));
  EXPECT_THAT(options.selection.skip, ElementsAre("debug"));
  EXPECT_DOUBLE_EQ(options.budget_s, 900);
  EXPECT_DOUBLE_EQ(options.margin, 0.015);
  EXPECT_DOUBLE_EQ(options.min_window_s, 0.5);
  EXPECT_EQ(options.blocks, 6);
  EXPECT_EQ(options.alone, 2);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.warmup, std::nullopt);
  EXPECT_EQ(options.steps, 30);
  EXPECT_DOUBLE_EQ(options.time_s, 60);
  EXPECT_EQ(options.prepare, "rm -f x");
  EXPECT_TRUE(options.keep);
  EXPECT_FALSE(options.allow_writes);
}

TEST(Options, AbSplitsItsFirstCommandIntoWords) {
  const Options options = Parsed({"ab", "./a --name 'one two'", "--", "./b", "c d"});
  EXPECT_THAT(options.program_a, ElementsAre("./a", "--name", "one two"));
  EXPECT_THAT(options.program, ElementsAre("./b", "c d"));
  EXPECT_THAT(Refused({"ab", "--", "./b"}), HasSubstr("one command in quotes"));
  EXPECT_THAT(Refused({"ab", "./a", "extra", "--", "./b"}), HasSubstr("ab: "));
  EXPECT_THAT(Refused({"ab", "  ", "--", "./b"}), HasSubstr("first command is empty"));
  EXPECT_THAT(Refused({"ab", "./a 'open", "--", "./b"}), HasSubstr("not closed"));
}

TEST(Options, SaysWhatIsWrongAndWhatToDo) {
  EXPECT_THAT(Refused({}), HasSubstr("Commands:"));
  EXPECT_THAT(Refused({"prov", "--", "x"}),
              AllOf(HasSubstr("unknown command `prov`"), HasSubstr("did you mean `prove`?"), HasSubstr("doctor")));
  EXPECT_THAT(Refused({"zzzzzzzz"}), AllOf(HasSubstr("unknown command"), HasSubstr("Commands: run, prove")));
  EXPECT_THAT(Refused({"--quiet", "run"}), HasSubstr("after the command"));
  EXPECT_THAT(Refused({"run", "--warmpu", "3", "--", "x"}), HasSubstr("did you mean --warmup?"));
  EXPECT_THAT(Refused({"run", "./train"}), HasSubstr("--"));
  EXPECT_THAT(Refused({"run"}), HasSubstr("no program to run"));
  EXPECT_THAT(Refused({"run", "--"}), HasSubstr("no program to run"));
  EXPECT_THAT(Refused({"run", "--steps", "many", "--", "x"}), AllOf(HasSubstr("--steps"), HasSubstr("'many'")));
  EXPECT_THAT(Refused({"run", "--steps", "-1", "--", "x"}), HasSubstr("--steps"));
  EXPECT_THAT(Refused({"prove", "--budget", "soon", "--", "x"}), HasSubstr("a time such as"));
  EXPECT_THAT(Refused({"run", "--format", "xml", "--", "x"}), AllOf(HasSubstr("xml"), HasSubstr("text, json")));
  EXPECT_THAT(Refused({"run", "--blocks", "3", "--", "x"}), HasSubstr("unknown option --blocks"));
  EXPECT_THAT(Refused({"prove", "--resume", "--", "x"}), HasSubstr("-o DIR"));
  EXPECT_THAT(Refused({"report"}), HasSubstr("nothing to report on"));
  EXPECT_THAT(Refused({"rules", "a", "b"}), HasSubstr("rules: "));
  EXPECT_THAT(Refused({"rules", "--", "x"}), HasSubstr("no program"));
}

TEST(Options, HelpShowsUsageAndAnExample) {
  for (const char* command : {"run", "prove", "ab", "report", "rules", "treatments", "doctor"}) {
    const std::string text = Parsed({command, "--help"}).text;
    EXPECT_THAT(text, HasSubstr(std::string("Usage: loopscope ") + command));
    EXPECT_THAT(text, HasSubstr(std::string("Example:\n  loopscope ") + command));
  }
  EXPECT_THAT(Parsed({"--help"}).text, HasSubstr("prove"));
  EXPECT_THAT(Parsed({"--version"}).text, testing::MatchesRegex("loopscope [0-9.]+\n"));
  EXPECT_EQ(Parsed({"run", "--", "--help"}).text, "");
}

class ConfigTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::string Write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  const std::string file_ = testing::TempDir() + "options_test.toml";
};

TEST_F(ConfigTest, GivesWayToTheCommandLine) {
  Write("quiet = true\nwarmup = 5\n[prove]\nblocks = 8\nonly = ['amp', 'threads=2']\nmargin = 1.5\n[run]\nsteps = 7\n");
  const Options prove = Parsed({"prove", "--config", file_, "--blocks", "4", "--", "x"});
  EXPECT_TRUE(prove.quiet);
  EXPECT_EQ(prove.warmup, 5);
  EXPECT_EQ(prove.blocks, 4);
  EXPECT_DOUBLE_EQ(prove.margin, 0.015);
  EXPECT_THAT(prove.selection.only, ElementsAre("amp", "threads=2"));
  EXPECT_FALSE(prove.steps.has_value());
  EXPECT_EQ(Parsed({"run", "--config=" + file_, "--", "x"}).steps, 7);
}

TEST_F(ConfigTest, NamesTheLineOfWhatItDoesNotKnow) {
  const auto with = [this](const std::string& text) {
    Write(text);
    return Refused({"prove", "--config", file_, "--", "x"});
  };
  EXPECT_THAT(with("quiet = true\nbudgte = '1m'\n"),
              AllOf(HasSubstr(file_ + ":2"), HasSubstr("did you mean `budget`?")));
  EXPECT_THAT(with("[run]\n\nblocks = 3\n"), AllOf(HasSubstr(":3"), HasSubstr("run.blocks")));
  EXPECT_THAT(with("[nonsense]\n"), AllOf(HasSubstr(":1"), HasSubstr("nonsense")));
  EXPECT_THAT(with("quiet = \n"), AllOf(HasSubstr(":1"), HasSubstr("not valid TOML")));
  EXPECT_THAT(with("blocks = 2020-01-01\n"), AllOf(HasSubstr(":1"), HasSubstr("must be")));
  EXPECT_THAT(with("blocks = 'many'\n"), HasSubstr("many"));
  EXPECT_THAT(Refused({"run", "--config", "/no/such.toml", "--", "x"}), HasSubstr("/no/such.toml"));
}

TEST(OptionValues, ReadsTimesAndShares) {
  EXPECT_EQ(ParseSeconds("90"), 90);
  EXPECT_EQ(ParseSeconds("90s"), 90);
  EXPECT_EQ(ParseSeconds("1.5 h"), 5400);
  EXPECT_EQ(ParseSeconds("15m"), 900);
  EXPECT_EQ(ParseSeconds("250ms"), 0.25);
  for (const char* text : {"", "s", "-1", "1d", "1e3", "nan", "inf", "1 2"})
    EXPECT_EQ(ParseSeconds(text), std::nullopt) << text;
  EXPECT_EQ(ParseShare("2"), 0.02);
  EXPECT_EQ(ParseShare("2 %"), 0.02);
  for (const char* text : {"", "%", "100", "-2", "2%%"}) EXPECT_EQ(ParseShare(text), std::nullopt) << text;
}

TEST(OptionValues, ReadsSizes) {
  EXPECT_EQ(ParseBytes("100"), 100u);
  EXPECT_EQ(ParseBytes("8M"), 8u << 20);
  EXPECT_EQ(ParseBytes("1.5 GiB"), 3ull << 29);
  EXPECT_EQ(ParseBytes("2kB"), 2048u);
  EXPECT_EQ(ParseBytes("7B"), 7u);
  for (const char* text : {"", "M", "-1", "1X", "1MM", "9999999T"}) EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
}

TEST(OptionValues, SplitsWordsAsAShellDoes) {
  const auto words = [](const char* text) { return *SplitWords(text); };
  EXPECT_THAT(words("a  b\tc\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words("'a b'\"c d\"e"), ElementsAre("a bc de"));
  EXPECT_THAT(words("a\\ b '' \"\""), ElementsAre("a b", "", ""));
  EXPECT_THAT(words("\"a\\\"b\\\\c\\n\" 'a\\b'"), ElementsAre("a\"b\\c\\n", "a\\b"));
  EXPECT_THAT(words("$HOME *.txt a;b"), ElementsAre("$HOME", "*.txt", "a;b"));
  EXPECT_THAT(words("   "), IsEmpty());
  EXPECT_FALSE(SplitWords("a \"b").ok());
  EXPECT_FALSE(SplitWords("it's").ok());
}

TEST(OptionValues, GuessesOnlyWhatIsClose) {
  const Words choices = {"run", "prove", "report"};
  EXPECT_EQ(Nearest("rnu", choices), "run");
  EXPECT_EQ(Nearest("x", choices), "");
  EXPECT_EQ(Nearest("prvoe", choices), "prove");
  EXPECT_EQ(Nearest("rep", choices), "report");
  EXPECT_EQ(Nearest("xylophone", choices), "");
}

}  // namespace
}  // namespace loopscope
