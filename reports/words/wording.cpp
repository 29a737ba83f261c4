#include "reports/words/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/text.h"
#include "profiler/core/treatment.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

std::string SamenessText(const TrialRow& trial) {
  const std::string loss = LossText(trial.loss);
  if (loss.empty()) return "";
  std::string text = "training: " + Printable(loss, 200);
  return trial.exactness.empty() ? text : text + " (" + Printable(trial.exactness, 40) + ")";
}

std::string MemoryText(const TrialRow& trial) {
  if (!Known(trial.peak_bytes_baseline) || !Known(trial.peak_bytes_treated)) return "";
  return fmt::format("peak memory {}, was {}", HumanBytes(*trial.peak_bytes_treated),
                     HumanBytes(*trial.peak_bytes_baseline));
}

std::string AppliedText(const TrialRow& trial) {
  const auto first = std::ranges::find_if(trial.applied, &Applied::changed);
  if (first == trial.applied.end()) return "";
  std::string text = fmt::format("changed {}: {} -> {}", Printable(first->where, 80), Printable(first->old_value, 30),
                                 Printable(first->new_value, 30));
  const auto places = std::ranges::count_if(trial.applied, &Applied::changed);
  return places == 1 ? text : text + fmt::format(" (and {} more)", places - 1);
}

// "amp=bf16,threads=1": the fixes left open, as --only takes them; none for another command or times to a target.
std::string LeftOpen(const Report& report) {
  std::vector<std::string> settings;
  for (const TrialRow& trial : report.trials) {
    std::string setting = trial.treatment + "=" + trial.value;
    if (trial.verdict != TrialVerdict::kInconclusive || trial.treatment == kCommandB || report.target) continue;
    if (std::ranges::find(settings, setting) != settings.end()) continue;
    settings.push_back(std::move(setting));
  }
  return fmt::format("{}", fmt::join(settings, ","));
}

// The faster trial with the largest speedup that a rule advises.
const TrialRow* BestTrial(const Report& report) {
  const TrialRow* best = nullptr;
  for (const TrialRow& trial : report.trials) {
    if (trial.verdict != TrialVerdict::kFaster || trial.rules.empty() || !trial.speedup) continue;
    if (best == nullptr || *trial.speedup > *best->speedup) best = &trial;
  }
  return best;
}

NextStep Loopscope(std::string what, std::vector<std::string> arguments, const std::vector<std::string>& program = {}) {
  arguments.insert(arguments.begin(), "loopscope");
  if (!program.empty()) arguments.push_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  return {std::move(what), std::move(arguments)};
}

NextStep NextAfterTrials(const Report& report) {
  const auto live = [](const TrialRow& trial) { return trial.method == "live"; };
  if (std::ranges::any_of(report.trials, live)) {
    return Loopscope("confirms by launches what one launch could only rank", {"prove"}, report.run.command);
  }
  if (const TrialRow* best = BestTrial(report)) {
    return Loopscope("shows how to make the change that brought most", {"rules", best->rules.front()});
  }
  const auto open = [](const TrialRow& trial) { return trial.verdict == TrialVerdict::kInconclusive; };
  if (report.run.command.empty() || !std::ranges::any_of(report.trials, open)) return {};
  std::vector<std::string> arguments = {"prove", "--blocks", "24", "--budget", "1h"};
  if (const std::string only = LeftOpen(report); !only.empty()) arguments.insert(arguments.end(), {"--only", only});
  return Loopscope("measures longer, for narrower intervals", std::move(arguments), report.run.command);
}

// A script, or what launches one.
bool IsPython(const RunInfo& run) {
  return std::ranges::any_of(run.command, [](std::string_view word) {
    const std::string_view name = word.substr(word.rfind('/') + 1);
    return name.ends_with(".py") || name.starts_with("python") || name == "torchrun" || name == "accelerate";
  });
}

// A share of the step, as long as it can be one.
std::string ProbeCostText(double pct) {
  if (!(pct >= 0)) return "";
  if (pct <= 100) return fmt::format("; probes took at most {} of a step", HumanPct(pct));
  return fmt::format("; steps that were recorded in detail took up to {} times as long", CountText(1 + pct / 100));
}

}  // namespace

bool Known(const std::optional<double>& value) {
  return value && std::isfinite(*value);
}

std::string PartText(Part part) {
  std::string text(PartName(part));
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string ComparisonText(const Comparison& of) {
  if (!Known(of.before_ms) || !Known(of.after_ms) || *of.before_ms <= 0) return "could not be compared";
  const double pct = 100 * (*of.after_ms - *of.before_ms) / *of.before_ms;
  return fmt::format("was {}, is {}: {}{}", HumanMs(*of.before_ms), HumanMs(*of.after_ms), pct > 0 ? "+" : "",
                     HumanPct(pct));
}

std::string RunText(const RunInfo& run) {
  std::vector<std::string> facts;
  if (!run.started.empty()) facts.push_back(run.started);
  if (!run.cpu.empty()) facts.push_back(run.cpu);
  if (run.cores > 0) facts.push_back(fmt::format("{} core{}", run.cores, run.cores == 1 ? "" : "s"));
  for (const std::string& gpu : run.gpus) facts.push_back(gpu);
  if (run.ranks > 1) facts.push_back(fmt::format("{} ranks", run.ranks));
  for (const auto& [name, version] : run.versions) {
    if (name != "kernel") facts.push_back(name + " " + version);  // in the JSON; too long for a headline
  }
  return fmt::format("{}", fmt::join(facts, ", "));
}

std::string GainText(const CombinedRow& all) {
  const std::size_t fixes = all.treatments.size();
  const bool slower = all.ci95 && (*all.ci95)[1] < 1;
  return fmt::format("{} with {} fix{}, 95% CI, n={}{}", HumanSpeedup(*all.speedup, all.ci95), fixes,
                     fixes == 1 ? "" : "es together", all.n, slower ? ": slower" : "");
}

// "torchvision/transforms/transforms.py" of an installed package's file, wherever that is installed.
static std::string WithoutInstallation(const std::string& path) {
  constexpr std::string_view kFolders[] = {"/site-packages/", "/dist-packages/"};
  for (const std::string_view folder : kFolders) {
    if (const std::size_t at = path.rfind(folder); at != path.npos) return path.substr(at + folder.size());
  }
  return path;
}

std::string PlaceText(const Where& where, const std::string& directory) {
  std::string text = WithoutInstallation(RelativePath(where.path, directory));
  if (text.empty()) text = "?";
  if (where.line > 0) text += fmt::format(":{}", where.line);
  text = Printable(text, 160);
  return where.function.empty() ? text : text + " in " + Printable(where.function, 60);
}

std::string PlaceText(const Evidence& evidence, const std::string& directory) {
  const std::string text = PlaceText(*evidence.where, directory);
  return evidence.called_at ? text + ", called at " + PlaceText(*evidence.called_at, directory) : text;
}

// "1.42x [1.37, 1.47], 95% CI, n=12, Holm p=0.002"
std::string SpeedupText(const TrialRow& trial) {
  if (!Known(trial.speedup)) return "not measured";
  std::string text = HumanSpeedup(*trial.speedup, trial.ci95);
  if (trial.ci95) text += ", 95% CI";
  text += fmt::format(", n={}", trial.n);
  if (Known(trial.p_holm)) {
    const std::string p = HumanP(*trial.p_holm);
    text += p.starts_with('<') ? ", Holm p" + p : ", Holm p=" + p;
  }
  return text;
}

std::string VerdictText(const TrialRow& trial, const NoiseFacts& noise) {
  std::string text(TrialVerdictName(trial.verdict));
  if (trial.verdict == TrialVerdict::kEquivalent && Known(trial.margin_pct)) {
    text += fmt::format(" within ±{:.3g} %", *trial.margin_pct);
  } else if (trial.verdict == TrialVerdict::kInconclusive) {
    const std::optional<double>& detectable = Known(trial.detectable_pct) ? trial.detectable_pct : noise.detectable_pct;
    if (Known(detectable)) text += fmt::format(" (could detect {})", HumanPct(*detectable));
  } else {
    std::ranges::replace(text, '-', ' ');
  }
  if (trial.method == "live") text += " within this one launch";
  if (trial.metric == "sample-time" && Known(trial.speedup)) text += " per sample";
  if (trial.metric == "epoch-boundary") text += " at epoch boundaries";
  if (trial.metric == "peak-memory") text += ", judged by peak memory";
  if (Known(trial.speedup) && trial.context == "with-others") text += ", beside the other fixes";
  if (Known(trial.speedup) && trial.context == "alone") text += ", alone";
  return trial.reason.empty() ? text : text + ": " + Printable(trial.reason, 300);
}

std::string ChecksText(const TrialRow& trial) {
  std::vector<std::string> checks = {SamenessText(trial), MemoryText(trial), AppliedText(trial)};
  if (Known(trial.one_time_cost_s) && *trial.one_time_cost_s > 0) {
    checks.push_back("costs " + HumanMs(1000 * *trial.one_time_cost_s) + " once");
  }
  std::erase(checks, "");
  return fmt::format("{}", fmt::join(checks, "; "));
}

std::string DataText(const Quality& quality) {
  std::string text = HumanCount(static_cast<double>(quality.events)) + " events";
  if (quality.dropped > 0) text += fmt::format(", {} dropped", HumanCount(static_cast<double>(quality.dropped)));
  if (quality.stalls_over_1ms > 0)
    text += ", " + Counted(static_cast<double>(quality.stalls_over_1ms), "probe stall") + " over 1 ms";
  if (quality.torn_bytes > 0) text += fmt::format(", {} torn", HumanBytes(static_cast<double>(quality.torn_bytes)));
  text += quality.clean_end ? ", ended in order" : ", did not end in order";
  return text + ProbeCostText(quality.probe_cost_pct);
}

const CodeExample* ExampleFor(const Finding& finding, const RunInfo& run) {
  if (finding.examples.empty()) return nullptr;
  const auto own = std::ranges::find(finding.examples, IsPython(run) ? "python" : "cpp", &CodeExample::language);
  return own == finding.examples.end() ? &finding.examples.front() : &*own;
}

NextStep NextOf(const Report& report) {
  if (!report.trials.empty()) return NextAfterTrials(report);
  const auto treatable = [](const Finding& finding) { return !finding.treatment_id.empty(); };
  const bool own = report.run.source == "capture";
  // Another tool's recording without a step lacks the command needed to rerun it.
  const bool failed = report.run.exit_status > 0;  // it would fail again
  const bool can_rerun = !report.run.command.empty() && !failed && (own || report.steps.mean_ms);
  if (can_rerun && std::ranges::any_of(report.findings, treatable)) {
    return Loopscope("reruns it with each fix and measures what each brings", {"prove"}, report.run.command);
  }
  if (!report.findings.empty()) {
    return Loopscope("explains the first finding", {"rules", report.findings.front().rule});
  }
  if (report.sweep || report.target) return {};
  if (own && !report.steps.mean_ms) return Loopscope("says what works on this machine", {"doctor"});
  return {};
}

std::string TriedText(const Report& report, const Finding& finding) {
  if (finding.treatment_id.empty()) return "";
  // Prefers the trial with the other fixes to the one alone: recommended sets are chosen that way.
  const TrialRow* tried = nullptr;
  for (const TrialRow& row : report.trials) {
    if (row.treatment == finding.treatment_id && (tried == nullptr || row.context == "with-others")) tried = &row;
  }
  if (tried == nullptr) return "";
  const std::string speedup =
      tried->speedup && std::isfinite(*tried->speedup) ? fmt::format(" ({:.2f}x)", *tried->speedup) : "";
  return Printable(
      fmt::format("{}: {}{}", TreatmentText(tried->treatment, tried->value), TrialVerdictName(tried->verdict), speedup),
      80);
}

std::string TreatmentText(std::string_view key, std::string_view value) {
  if (value.empty()) return std::string(key);
  return fmt::format("{}={}", key, value);
}

}  // namespace loopscope
