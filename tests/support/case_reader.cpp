#include "tests/support/case_reader.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/support/case_device.h"
#include "tests/support/case_tensors.h"
#include "tests/support/case_tokens.h"
#include "tests/support/trace_builder.h"

namespace loopscope::test {
namespace {

const std::map<std::string_view, RangeCategory> kCategories{
    {"user", RangeCategory::kUser},          {"loader", RangeCategory::kLoader},
    {"backward", RangeCategory::kBackward},  {"optimizer", RangeCategory::kOptimizer},
    {"zero-grad", RangeCategory::kZeroGrad}, {"sync", RangeCategory::kSync},
    {"copy", RangeCategory::kCopyToDevice},  {"communication", RangeCategory::kCommunication},
    {"forward", RangeCategory::kForward},    {"evaluation", RangeCategory::kEvaluation},
    {"wait", RangeCategory::kWait},          {"call", RangeCategory::kDeviceCall},
    {"module", RangeCategory::kModule},      {"output", RangeCategory::kOutput},
    {"line", RangeCategory::kLine},          {"pause", RangeCategory::kPause},
};

const std::map<std::string_view, std::uint16_t> kFlags{
    {"graph", wire::kOpGraph},       {"anomaly", wire::kOpAnomaly}, {"autocast", wire::kOpAutocast},
    {"profiler", wire::kOpProfiler}, {"nvtx", wire::kOpEmitNvtx},   {"inference", wire::kOpInference},
};

const std::map<std::string_view, MarkKind> kMarks{{"epoch-start", MarkKind::kEpochStart},
                                                  {"epoch-end", MarkKind::kEpochEnd}};

[[noreturn]] void Fail(const CaseLine& line, std::string what) {
  throw CaseError{line.number, std::move(what)};
}

// The items inside a step, in order: events of the training thread, marks, other threads' events.
struct StepItem {
  std::optional<MarkKind> mark;
  std::string thread;  // "" the training thread
  std::vector<EventSpec> events;
};

struct StepSpec {
  bool warmup = false, detail = true, operators = true, followed = false;
  int repeat = 1;
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> resident, growth;  // bytes at the end, and how much more each time
  std::vector<StepItem> items;
  TensorSpecs tensors;
};

void Slow(EventSpec& event, double times) {
  if (event.length_ns > 0) event.length_ns = std::llround(static_cast<double>(event.length_ns) * times);
  for (EventSpec& one : event.inside) Slow(one, times);
}

StepSpec Slowed(StepSpec step, double times) {
  for (StepItem& item : step.items) {
    for (EventSpec& event : item.events) Slow(event, times);
  }
  return step;
}

StepSpec WithoutDetails(StepSpec step, int times) {
  step.detail = false;
  step.repeat *= times;
  return step;
}

class Reader {
 public:
  Reader(std::string_view text, Layout layout) : lines_(SplitLines(text)), layout_(layout) {}

  std::vector<Case> Read() {
    std::vector<Case> cases;
    while (at_ < lines_.size()) {
      if (Line().words[0] != "case" || Line().words.size() != 2) Fail(Line(), "a case begins with 'case NAME'");
      cases.push_back(ReadCase());
    }
    return cases;
  }

 private:
  const CaseLine& Line() const { return lines_[at_]; }
  bool Below(int indent) const { return at_ < lines_.size() && Line().indent > indent; }

  Case ReadCase() {
    Case one;
    const CaseLine head = Line();
    one.name = head.words[1];
    one.line = head.number;
    TraceBuilder builder;
    builder.trace().run.cores = 2;
    bool expected = false, measuring = false, detailing = false, recording = true;
    for (++at_; Below(head.indent);) {
      const CaseLine& line = Line();
      const std::string& word = line.words[0];
      if (word == "warmup" || word == "step") {
        const StepSpec step = ReadStep();
        if (step.warmup && measuring) Fail(line, "a warm-up step after a timed one");
        if (!step.warmup && !measuring) builder.Mark(MarkKind::kMeasureBegin);
        measuring |= !step.warmup;
        const auto lay = [&](const StepSpec& as) {
          if (as.detail != detailing) builder.Mark(as.detail ? MarkKind::kDetailBegin : MarkKind::kDetailEnd);
          if (as.operators != recording) builder.Mark(as.operators ? MarkKind::kOpsBegin : MarkKind::kOpsEnd);
          detailing = as.detail;
          recording = as.operators;
          if (as.followed) builder.Mark(MarkKind::kFollowBegin);
          Lay(builder, as);
          if (as.followed) builder.Mark(MarkKind::kFollowEnd);
        };
        lay(step.detail ? Slowed(step, layout_.slowed) : step);
        if (step.detail && layout_.plain > 0) lay(WithoutDetails(step, layout_.plain));
        continue;
      }
      ++at_;
      if (word == "gain") {
        builder.trace().gains.push_back(ReadGain(line));
      } else if (word == "peak") {
        const auto [name, bytes] = SplitAttribute(line.words.at(1));
        builder.Mark(MarkKind::kPeakBytes, ReadBytes(bytes, line.number), name);
      } else if (word == "expect") {
        one.expectation = ReadExpectation(line);
        expected = true;
      } else {
        ReadSetting(line, builder.trace());
      }
    }
    if (!expected) Fail(head, "case '" + one.name + "' expects nothing");
    if (detailing) builder.Mark(MarkKind::kDetailEnd);
    if (measuring) builder.Mark(MarkKind::kMeasureEnd);
    for (const std::string& label : used_) {
      if (!made_.contains(label)) Fail(head, "no op makes the node '" + label + "'");
    }
    used_.clear();
    made_.clear();
    one.trace = builder.Take();
    return one;
  }

  // "gain amp=bf16 8ms 4ms x3": what a piece of work took without and with a change, and how often it was done.
  static MeasuredGain ReadGain(const CaseLine& line) {
    if (line.words.size() < 4) Fail(line, "a gain has a change and two times");
    MeasuredGain gain{line.words[1], "", 1, ReadTime(line.words[2], line.number), ReadTime(line.words[3], line.number)};
    for (std::size_t i = 4; i < line.words.size(); ++i) {
      const auto [key, value] = SplitAttribute(line.words[i]);
      if (key == "work") {
        gain.work = value;
      } else if (const int count = ReadRepeat(line.words[i]); count > 0) {
        gain.count = static_cast<std::uint32_t>(count);
      } else {
        Fail(line, "'" + line.words[i] + "' is not a number of times");
      }
    }
    return gain;
  }

  static void ReadSetting(const CaseLine& line, Trace& trace) {
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      const auto [key, value] = SplitAttribute(line.words[i]);
      const bool host = line.words[0] == "host";
      if (line.words[0] == "env") {
        trace.run.environment[key] = value;
      } else if (line.words[0] == "fact") {
        trace.facts[key] = value;
      } else if (host && key == "feature") {
        trace.run.cpu_features.push_back(value);
      } else if (host && key == "gpu") {
        trace.run.gpus.push_back(value);
      } else if (host && key == "ranks") {
        trace.run.ranks = static_cast<int>(ReadNumber(value, line.number));
      } else if (line.words[0] == "dropped") {
        trace.quality.dropped = static_cast<std::uint64_t>(ReadNumber(line.words[i], line.number));
      } else {
        Fail(line, "unknown setting '" + line.words[0] + " " + line.words[i] + "'");
      }
    }
  }

  StepSpec ReadStep() {
    const CaseLine head = Line();
    StepSpec step;
    step.warmup = head.words[0] == "warmup";
    step.detail = !step.warmup;
    for (std::size_t i = 1; i < head.words.size(); ++i) {
      const auto [key, value] = SplitAttribute(head.words[i]);
      if (const int repeat = ReadRepeat(key))
        step.repeat = repeat;
      else if (key == "nodetail")
        step.detail = false;
      else if (key == "followed")
        step.followed = true;
      else if (key == "nooperators")
        step.operators = step.detail = false;
      else if (key == "samples")
        step.samples = static_cast<std::uint64_t>(ReadNumber(value, head.number));
      else if (key == "resident") {
        const std::size_t plus = value.find('+');
        step.resident = ReadBytes(value.substr(0, plus), head.number);
        step.growth = plus == std::string::npos ? 0 : ReadBytes(value.substr(plus + 1), head.number);
      } else
        Fail(head, "unknown attribute '" + key + "' of a step");
    }
    for (++at_; Below(head.indent);) {
      if (ReadTensorLine(Line(), step.tensors)) {
        ++at_;
      } else {
        step.items.push_back(ReadItem());
      }
    }
    return step;
  }

  StepItem ReadItem() {
    const CaseLine head = Line();
    StepItem item;
    if (head.words[0] == "mark") {
      const auto kind = kMarks.find(head.words.size() == 2 ? std::string_view(head.words[1]) : "");
      if (kind == kMarks.end()) Fail(head, "a mark is epoch-start or epoch-end");
      item.mark = kind->second;
      ++at_;
    } else if (head.words[0] == "thread") {
      if (head.words.size() != 2) Fail(head, "a thread has a name");
      item.thread = head.words[1];
      for (++at_; Below(head.indent);) item.events.push_back(ReadEvent());
    } else {
      item.events.push_back(ReadEvent());
    }
    return item;
  }

  EventSpec ReadEvent() {
    const CaseLine head = Line();
    const std::string& word = head.words[0];
    EventSpec event;
    std::size_t next = 1;
    const auto name = [&]() -> std::string {
      if (head.words.size() < 2) Fail(head, "'" + word + "' needs a name");
      return head.words[next++];
    };
    if (word == "op") {
      event.name = name();
    } else if (word == "bwd") {
      event.name = "autograd::engine::evaluate_function: " + name();
    } else if (word == "range") {
      event.kind = EventSpec::Kind::kRange;
      const auto category = kCategories.find(name());
      if (category == kCategories.end()) Fail(head, "unknown category '" + head.words[1] + "'");
      event.sub = static_cast<std::uint8_t>(category->second);
    } else if (IsDeviceWord(word)) {
      next = ReadDeviceCall(head, event);
    } else if (word == "gap") {
      event.kind = EventSpec::Kind::kGap;
    } else {
      Fail(head, "expected op, bwd, range, gap, mark, thread or a device's call, not '" + word + "'");
    }
    for (; next < head.words.size(); ++next) ReadAttribute(head, head.words[next], event);
    for (++at_; Below(head.indent);) event.inside.push_back(ReadEvent());
    if (event.length_ns < 0 && event.inside.empty()) Fail(head, "'" + word + "' has no length and nothing inside");
    const std::int64_t length_ns = event.length_ns;
    event.length_ns = -1;
    const std::int64_t inside_ns = event.Length();
    event.length_ns = length_ns;
    if (length_ns >= 0 && length_ns < inside_ns) Fail(head, "what is inside lasts longer");
    return event;
  }

  void ReadAttribute(const CaseLine& line, const std::string& word, EventSpec& event) {
    if (IsTime(word)) {
      event.length_ns = ReadTime(word, line.number);
      return;
    }
    if (const int repeat = ReadRepeat(word)) {
      event.repeat = repeat;
      return;
    }
    const auto [key, value] = SplitAttribute(word);
    if (const auto flag = kFlags.find(key); flag != kFlags.end() && value.empty())
      event.flags |= flag->second;
    else if (key == "inputs")
      event.inputs = value;
    else if (key == "at")
      event.where = ReadWhere(value, line.number);
    else if (key == "value")
      event.value = static_cast<std::uint32_t>(ReadNumber(value, line.number));
    else if (key == "name")
      event.name = value;
    else if (key == "from")
      ReadFrom(value, event);
    else if (key == "node") {
      made_.emplace(event.node = value, line.number);
      event.flags |= wire::kOpGraph;
    } else if (key == "of")
      used_.push_back(event.of = value);
    else if (!ReadDeviceAttribute(line, key, value, event))
      Fail(line, "unknown attribute '" + word + "'");
  }

  // "a,b": "-" is an input that was not made by a node.
  void ReadFrom(std::string_view labels, EventSpec& event) {
    while (true) {
      const std::size_t comma = labels.find(',');
      event.from.emplace_back(labels.substr(0, comma));
      if (event.from.back() != "-") used_.push_back(event.from.back());
      if (comma == labels.npos) return;
      labels.remove_prefix(comma + 1);
    }
  }

  static void Lay(TraceBuilder& builder, const StepSpec& step) {
    for (int i = 0; i < step.repeat; ++i) {
      const std::int64_t start_ns = builder.now();
      LayTensors(builder, step.tensors, start_ns);
      for (const StepItem& item : step.items) {
        if (item.mark) {
          builder.Advance(1);  // an instant on the border would belong to the step before
          builder.Mark(*item.mark);
        }
        std::int64_t at_ns = item.thread.empty() ? builder.now() : start_ns;
        if (!item.thread.empty()) {
          const auto& before = builder.trace().threads[builder.Thread(item.thread)].events;
          for (const Event& event : before) at_ns = std::max(at_ns, event.end_ns);
        }
        for (const EventSpec& event : item.events)
          at_ns = builder.Add(builder.Thread(item.thread.empty() ? "main" : item.thread), event, at_ns, step.detail);
        if (item.thread.empty()) builder.Advance(at_ns - builder.now());
      }
      if (step.resident)
        builder.Mark(MarkKind::kResidentBytes, *step.resident + *step.growth * static_cast<std::uint64_t>(i));
      builder.Mark(MarkKind::kStepEnd, step.samples, "optimizer:SGD#1");
    }
  }

  std::vector<CaseLine> lines_;
  Layout layout_;
  std::size_t at_ = 0;
  std::map<std::string, int> made_;
  std::vector<std::string> used_;
};

}  // namespace

Result<std::vector<Case>> ParseCases(std::string_view text, std::string_view path, Layout layout) {
  try {
    return Reader(text, layout).Read();
  } catch (const CaseError& error) {
    return Error{error.what, std::string(path) + ":" + std::to_string(error.line), "see tests/cases/README.md"};
  }
}

Result<std::vector<Case>> ReadCases(const std::filesystem::path& path, Layout layout) {
  std::ifstream file(path);
  if (!file) return Error{"cannot be read", path.string(), ""};
  std::ostringstream text;
  text << file.rdbuf();
  return ParseCases(text.str(), path.string(), layout);
}

}  // namespace loopscope::test
