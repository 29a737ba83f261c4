#include "reports/html/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/core/printable.h"
#include "reports/html/timeline_view.h"
#include "reports/json/report_json.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/step_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTextColumns = 600, kMostBars = 22'000, kMostSteps = 2000, kMostQuotes = 2, kMostQuotedLines = 40;
constexpr std::int64_t kUnit_ns = 100;  // of the times in views: short numbers

// Keeps outside texts from hiding, reversing or flooding their surroundings.
Json Printed(Json tree) {
  if (tree.is_string()) return Printable(tree.get_ref<const std::string&>(), kTextColumns);
  if (tree.is_array()) {
    for (Json& item : tree) item = Printed(std::move(item));
  } else if (tree.is_object()) {
    Json object = Json::object();
    for (auto& [key, value] : tree.items()) object[Printable(key, 200)] = Printed(std::move(value));
    return object;
  }
  return tree;
}

Json LinesJson(std::string_view code) {
  Json lines = Json::array();
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    lines.push_back(Printable(code.substr(0, end), 160));
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return lines;
}

// The line itself without its indentation; empty if the source may have changed.
std::string SourceLine(const Where& where, const RunInfo& run) {
  const SourceQuote quote = QuoteSource(where, run);
  const auto index = static_cast<std::size_t>(where.line - quote.first_line);
  if (quote.lines.empty() || where.line < quote.first_line || index >= quote.lines.size()) return "";
  const std::string& line = quote.lines[index];
  const std::size_t begin = line.find_first_not_of(' ');
  return begin == line.npos ? "" : line.substr(begin);
}

// The names of called functions: "item" and "float" in "float(loss.item())".
std::set<std::string> CallsIn(std::string_view code) {
  std::set<std::string> calls;
  const auto in_name = [](char byte) { return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_'; };
  for (std::size_t at = code.find('('); at != code.npos; at = code.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && in_name(code[begin - 1])) --begin;
    if (begin < at) calls.insert(std::string(code.substr(begin, at - begin)));
  }
  return calls;
}

// The program's own line that calls the same function as the example; empty if there is none.
std::string OwnLine(const Finding& finding, const CodeExample& example, const RunInfo& run) {
  const std::set<std::string> wanted = CallsIn(example.before);
  std::size_t looked_at = 0;
  for (const Evidence& one : finding.evidence) {
    if (!one.where || ++looked_at > kMostQuotes) continue;
    const std::string line = SourceLine(*one.where, run);
    const auto calls = [&](const std::string& name) { return wanted.contains(name); };
    if (std::ranges::any_of(CallsIn(line), calls)) return line;
  }
  return "";
}

// The program's own line, if known, replaces the example's "before".
Json ExampleJson(const Finding& finding, const RunInfo& run) {
  const CodeExample* const example = ExampleFor(finding, run);
  if (example == nullptr) return nullptr;
  const std::string own = OwnLine(finding, *example, run);
  Json before = LinesJson(example->before);
  if (!own.empty()) before = Json::array({Printable(own, 160)});
  return {{"language", example->language == "python" ? "Python" : "C++"},
          {"own", !own.empty()},
          {"before", std::move(before)},
          {"after", LinesJson(example->after)}};
}

Json PlaceJson(const Evidence& evidence, const RunInfo& run, bool quoted) {
  Json place = {{"text", Printable(evidence.text)}, {"where", nullptr}, {"quote", nullptr}, {"why_not", ""}};
  if (!evidence.where) return place;
  place["where"] = PlaceText(evidence, run.working_directory);
  if (!quoted) return place;
  SourceQuote quote = QuoteSource(*evidence.where, run);
  place["why_not"] = quote.why_not;
  if (!quote.lines.empty()) {
    place["quote"] = {{"first", quote.first_line}, {"line", evidence.where->line}, {"lines", std::move(quote.lines)}};
  }
  return place;
}

Json FindingWords(const Finding& finding, const RunInfo& run) {
  Json places = Json::array();
  for (const Evidence& one : finding.evidence) places.push_back(PlaceJson(one, run, places.size() < kMostQuotes));
  const bool costs = finding.cost_ms_per_step > 0 && std::isfinite(finding.cost_ms_per_step);
  return {{"cost", costs ? HumanMs(finding.cost_ms_per_step) + " per step, " + HumanPct(finding.cost_pct) : ""},
          {"places", std::move(places)},
          {"try",
           finding.treatment_id.empty() ? "" : Printable(TreatmentText(finding.treatment_id, finding.treatment), 80)},
          {"example", ExampleJson(finding, run)}};
}

Json TrialWords(const TrialRow& trial, const NoiseFacts& noise) {
  return {{"name", Printable(TreatmentText(trial.treatment, trial.value), 80)},
          {"speedup", SpeedupText(trial)},
          {"verdict", Printable(VerdictText(trial, noise))},
          {"checks", Printable(ChecksText(trial))}};
}

Json GateWords(const GateRow& row) {
  Json counters = Json::array();
  for (const CounterRow& one : row.counters) {
    Json places = Json::array();
    for (const CounterPlace& at : one.places) places.push_back(CounterPlaceText(at));
    counters.push_back({{"text", CounterText(one)}, {"fails", one.fails}, {"places", std::move(places)}});
  }
  return {{"verdict", GateText(row)},
          {"time", GateTimeText(row)},
          {"compared", GateCountersText(row)},
          {"counters", std::move(counters)}};
}

// The source of the line itself; empty if the source may have changed.
std::string CodeOf(const LineRow& row, const RunInfo& run) {
  const std::optional<Where>& where = row.where ? row.where : row.library;
  if (!where) return "";
  return SourceLine(*where, run);
}

Json LineRowsJson(const std::vector<LineRow>& rows, const RunInfo& run) {
  Json all = Json::array();
  for (const LineRow& row : rows) {
    all.push_back({{"ms", row.ms},
                   {"share", row.share_pct},
                   {"phase", row.phase},
                   {"place", Printable(LinePlaceText(row, run.working_directory), kTextColumns)},
                   {"code", all.size() < kMostQuotedLines ? CodeOf(row, run) : ""}});
  }
  return all;
}

// The lines whose operators take longest beyond what their shapes need.
Json HeadroomJson(const Report& report) {
  constexpr std::size_t kMostShown = 10;
  Json rows = Json::array();
  if (!report.headroom) return rows;
  for (const HeadroomLine& line : report.headroom->lines) {
    if (rows.size() == kMostShown || line.above_ms() < report.headroom->step_ms / 100) break;
    const LineRow row{.where = line.where, .library = {}, .what = line.what, .phase = {}};
    rows.push_back({{"ms", line.ms},
                    {"floor", line.floor_ms ? Json(*line.floor_ms) : Json()},
                    {"place", Printable(LinePlaceText(row, report.run.working_directory), kTextColumns)},
                    {"code", CodeOf(row, report.run)}});
  }
  return rows;
}

Json WholeJson(const Report& report) {
  Json rows = Json::array();
  for (const WholeRow& row : WholeRows(report)) {
    rows.push_back({{"name", row.name}, {"ms", row.ms}, {"share", row.share_pct}});
  }
  return rows;
}

Json WordsJson(const Report& report) {
  Json findings = Json::array(), trials = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(FindingWords(finding, report.run));
  for (const TrialRow& trial : report.trials) trials.push_back(TrialWords(trial, report.noise));
  Json fixes = Json::array();
  for (const TrialEntry& one : TrialEntries(report)) fixes.push_back({{"shown", one.shown}, {"other", one.other}});
  Json gate = Json::array();
  if (report.gate) {
    for (const GateRow& row : report.gate->workloads) gate.push_back(GateWords(row));
  }
  const NextStep next = NextOf(report);
  const bool gained = report.combined && Known(report.combined->speedup);
  return {{"command", ShellQuoted(report.run.command)},
          {"run", Printable(RunText(report.run))},
          {"gain", gained ? GainText(*report.combined) : ""},
          {"limit", HeadlineText(report)},
          {"step", Known(report.steps.mean_ms) ? StepText(report.steps) : ""},
          {"quality", DataText(report.quality)},
          {"next", {{"command", ShellQuoted(next.command)}, {"what", next.what}}},
          {"clock", Printable(ClockText(report.steps), kTextColumns)},
          {"trend", TrendText(report.steps)},
          {"whole", WholeJson(report)},
          {"lines", LineRowsJson(report.lines, report.run)},
          {"whole_lines", LineRowsJson(report.whole_lines, report.run)},
          {"headroom", HeadroomJson(report)},
          {"worker_lines", LineRowsJson(report.worker_lines, report.run)},
          {"gate", std::move(gate)},
          {"findings", std::move(findings)},
          {"fixes", std::move(fixes)},
          {"trials", std::move(trials)}};
}

std::int64_t Units(std::int64_t ns) {
  return (ns + kUnit_ns / 2) / kUnit_ns;
}

// Each bar as five numbers: start minus the end of the one before, length, name, count, place.
Json RowJson(const std::vector<Bar>& row) {
  Json numbers = Json::array();
  std::int64_t end = 0;
  for (const Bar& bar : row) {
    const std::int64_t start = Units(bar.start_ns), length = Units(bar.length_ns);
    for (const std::int64_t number : {start - end, length}) numbers.push_back(number);
    for (const std::uint32_t number : {bar.name, bar.count, bar.place}) numbers.push_back(number);
    end = start + length;
  }
  return numbers;
}

Json ViewJson(const Timeline& timeline, std::uint32_t step, std::string_view title) {
  StepView view = ViewOf(timeline, step, kMostBars);
  Json lanes = Json::array(), longest = Json::array();
  for (const Lane& lane : view.lanes) {
    Json rows = Json::array();
    for (const std::vector<Bar>& row : lane.rows) rows.push_back(RowJson(row));
    lanes.push_back({{"kind", lane.kind}, {"title", lane.title}, {"rows", std::move(rows)}});
  }
  for (const OpTotal& total : view.longest) {
    longest.push_back(
        {{"name", total.name}, {"count", total.count}, {"self_ms", static_cast<double>(total.self_ns) / 1e6}});
  }
  return {{"title", title},
          {"step", step},
          {"length", Units(view.length_ns)},
          {"lanes", std::move(lanes)},
          {"lanes_left_out", view.lanes_left_out},
          {"longest", std::move(longest)},
          {"names", std::move(view.names)},
          {"places", std::move(view.places)}};
}

std::string_view KindOf(const Step& step, bool counted) {
  if (!step.plain()) return KindName(step.kind());
  if (!counted) return "slowed by recording";
  return step.operators ? "steady" : "operators not recorded";
}

// Step lengths in order, in ms; when there are many, the longest of each few.
Json StepsJson(const Timeline& timeline) {
  const auto steps = timeline.steps();
  const std::size_t few = steps.size() / kMostSteps + 1;
  Json ms = Json::array(), kinds = Json::array();
  std::vector<bool> counted(steps.size());  // in the mean
  for (const std::uint32_t index : timeline.undisturbed()) counted[index] = true;
  for (std::size_t from = 0; from < steps.size(); from += few) {
    const auto some = steps.subspan(from, std::min(few, steps.size() - from));
    const Step& longest = *std::ranges::max_element(some, {}, [](const Step& one) { return one.time.length(); });
    ms.push_back(static_cast<double>(longest.time.length()) / 1e6);
    kinds.push_back(KindOf(longest, counted[static_cast<std::size_t>(&longest - steps.data())]));
  }
  return {{"each", few}, {"ms", std::move(ms)}, {"kinds", std::move(kinds)}};
}

Json TimelineJson(const Report& report) {
  if (!report.timeline || report.timeline->steady().empty()) return nullptr;
  const Timeline& timeline = *report.timeline;
  const std::uint32_t typical = TypicalStep(timeline), worst = WorstStep(timeline);
  Json views = Json::array({ViewJson(timeline, typical, "Typical step")});
  if (worst != typical) views.push_back(ViewJson(timeline, worst, "Slowest step"));
  return {
      {"unit_ms", static_cast<double>(kUnit_ns) / 1e6}, {"views", std::move(views)}, {"steps", StepsJson(timeline)}};
}

}  // namespace

Json PageData(const Report& report) {
  Json tree = ReportTree(report);
  for (Json& finding : tree["findings"]) finding.erase("examples");
  return {{"report", Printed(std::move(tree))}, {"words", WordsJson(report)}, {"timeline", TimelineJson(report)}};
}

}  // namespace loopscope
