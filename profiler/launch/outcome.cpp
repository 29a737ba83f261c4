#include "profiler/launch/outcome.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "profiler/core/printable.h"
#include "profiler/core/report/run_end.h"
#include "profiler/core/steps/step_ledger.h"
#include "profiler/core/text.h"
#include "profiler/launch/program.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kProgramFailed = 4, kNothingSeen = 3;

std::string Indented(const std::string& text) {
  std::string indented = "    ";
  for (const char c : text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return indented;
}

std::string How(const ProcessEnd& end) {
  switch (end.how) {
    case ProcessEnd::How::kTimeout:
      return "was ended because it took too long";
    case ProcessEnd::How::kInterrupted:
      return "was interrupted";
    default:
      return HowItEnded(end.status);
  }
}

std::string LastWords(const ProcessEnd& end) {
  return end.tail.empty() || end.shown ? "" : "\n  Its last lines:\n" + Indented(end.tail);
}

// Advice for a program that died before its first step, from Python's last message.
const char* WayOut(const std::string& last_words) {
  if (last_words.find("EOFError") != last_words.npos) {  // what input() raises
    return "It asks for input, and a rerun has no terminal: give it its answers as arguments.";
  }
  if (last_words.find("ModuleNotFoundError") != last_words.npos) {
    return "Its Python lacks a package: name the Python of your environment by its path after `--`.";
  }
  return "Run it without Loopscope to see whether it fails by itself.";
}

Error Died(const ProcessEnd& end, const std::vector<std::string>& command, const Seen& seen) {
  const bool interrupted = end.how == ProcessEnd::How::kInterrupted;
  Error error{"", Shown(command), "", interrupted ? kNothingSeen : kProgramFailed};
  if (seen.steps > 0) {
    error.what = fmt::format("the program {} after {}", How(end), Counted(static_cast<double>(seen.steps), "step"));
    error.next = "What was recorded until then is kept." + LastWords(end);
  } else {
    error.what = fmt::format("the program {} before its first step", How(end));
    error.next = WayOut(end.tail) + LastWords(end);
  }
  return error;
}

std::string WhyNoCapture(const std::vector<std::string>& command) {
  const auto unreachable = WhyUnreachable(command);
  return unreachable ? *unreachable : WhyNoLibTorch(InspectProgram(command.front()));
}

std::string WhatEndsAStep(const std::vector<std::string>& command) {
  if (InspectProgram(command.front()).kind == ProgramKind::kPython) {
    return "A step ends with an optimizer's step, or, where there is no optimizer, with a backward pass or with "
           "gradients that `torch.autograd.grad` takes: a script that does neither does not train, and one that trains "
           "less than a few steps is too short.";
  }
  return "A step ends with an optimizer's step. A loop that has none marks its steps with loopscope::StepEnd() "
         "(probes/loopscope.h) or with an NVTX range named `step`.";
}

}  // namespace

Seen SeenIn(const Result<Trace>& trace, const fs::path& directory) {
  Seen seen;
  seen.capture = trace.ok();
  if (trace) {
    seen.steps = static_cast<int>(StepsOfAll(*trace));
    return seen;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".cap") seen.why_no_capture = trace.error().what;
  }
  return seen;
}

Error DescribeStart(const ProcessEnd& end, const std::vector<std::string>& command) {
  const std::string& word = command.front();
  const std::string why = end.error ? std::strerror(end.error) : "it failed";
  if (!end.reason.empty()) {
    Error error{end.reason + ": " + why, Shown(command), "the launch was not made", kProgramFailed};
    if (end.error == 0) error.next = "make the preparation end with status 0" + LastWords(end);
    return error;
  }
  if (end.error != ENOENT) {
    return {"cannot be executed: " + why, word, "make it executable (chmod +x), or name its interpreter before it",
            kProgramFailed};
  }
  const Program program = InspectProgram(word);
  if (program.kind != ProgramKind::kMissing) {
    return {"cannot be executed: its interpreter " + program.interpreter + " does not exist", word,
            "install the interpreter, or name another before the script", kProgramFailed};
  }
  return {"no such command", word, "check the spelling, or give its path (./train)", kProgramFailed};
}

std::optional<Error> DescribeOutcome(const ProcessEnd& end, const std::vector<std::string>& command, const Seen& seen) {
  if (end.how == ProcessEnd::How::kNotStarted) return DescribeStart(end, command);
  if (!end.ok() && !end.full.empty()) {
    return Error{"no space is left for what the launches write", end.full, "set TMPDIR to a folder with more",
                 kProgramFailed};
  }
  if (!end.ok()) return Died(end, command, seen);
  if (!seen.why_no_capture.empty()) {
    return Error{"its capture cannot be read: " + seen.why_no_capture, Shown(command),
                 "free space on the disk that it is recorded on, and run it again", kNothingSeen};
  }
  if (!seen.capture) {
    return Error{"no LibTorch program was seen", Shown(command), WhyNoCapture(command) + ".", kNothingSeen};
  }
  if (seen.steps > 0) return std::nullopt;
  return Error{fmt::format("the program ended after {:.1f} s without a training step", end.wall_s), Shown(command),
               WhatEndsAStep(command), kNothingSeen};
}

std::string Shown(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : Redacted(command)) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?`#~!{}[]") == word.npos;
    if (!text.empty()) text += ' ';
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace loopscope
