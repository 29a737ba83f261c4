#include "analyzers/diagnose/count_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzers/shared/evidence.h"

namespace loopscope {
namespace {

// Where both are found, the first says all that the second does, and more.
constexpr std::array kSays = {std::pair<std::string_view, std::string_view>{"uneven-steps", "periodic-stall"},
                              std::pair<std::string_view, std::string_view>{"too-many-workers", "slow-epoch-start"},
                              std::pair<std::string_view, std::string_view>{"grad-in-eval", "slow-evaluation"}};

// A training thread that waits for the interpreter's lock does so at any line and after any operator: such a time is
// not of what these rules blame, where the wait is half as long or longer.
constexpr std::string_view kLock = "gil-contention";
constexpr std::array<std::string_view, 7> kSpreadOver = {
    "host-code",   "uneven-steps", "periodic-stall", "growing-step", "single-tensor-optimizer",
    "small-batch", "host-sync"};

constexpr std::string_view kKeptGraphs = "graph-retained", kGrowth = "growing-step";
constexpr std::string_view kTables = "dense-embedding", kOptimizer = "single-tensor-optimizer";

constexpr std::string_view kGeneral = "host-code";  // whatever runs at a line
constexpr double kLeastPct = 5;                     // of the step, as the rule itself has it

// A time as a whole, the rules that may know its reason, and the share of it that one must explain to be told instead.
constexpr double kKnownShare = 0.5;
constexpr std::array<std::string_view, 12> kWhyIdle = {"launch-bound",    "input-starvation",      "host-sync",
                                                       "pageable-copy",   "blocking-copy",         "host-code",
                                                       "cpu-then-device", "allocator-retries",     "cache-emptied",
                                                       "slow-backend",    "exposed-communication", "cudnn-retuning"};
constexpr std::array<std::string_view, 4> kWhyExposed = {"accumulation-allreduce", "needless-resharding",
                                                         "loss-reduction", "slow-backend"};
struct Whole {
  std::string_view rule;
  std::span<const std::string_view> reasons;
};
constexpr std::array kWholes = {Whole{"gpu-starvation", kWhyIdle}, Whole{"exposed-communication", kWhyExposed}};

using Place = std::pair<std::string, int>;

bool IsFound(const std::vector<Finding>& findings) {
  return std::ranges::find(findings, Verdict::kFound, &Finding::verdict) != findings.end();
}

// Places that another rule blames for time that is really spent.
std::set<Place> BlamedPlaces(std::span<const Analyzer* const> analyzers,
                             const std::vector<std::vector<Finding>>& findings) {
  std::set<Place> blamed;
  for (std::size_t i = 0; i < analyzers.size(); ++i) {
    if (analyzers[i]->id == kGeneral) continue;
    for (const Finding& finding : findings[i]) {
      const bool counts = finding.verdict == Verdict::kFound && finding.severity > Severity::kInfo &&
                          finding.cost_is != CostKind::kBound && !finding.per_epoch;
      for (const Evidence& evidence : finding.evidence) {
        if (counts && evidence.where) blamed.insert({evidence.where->path, evidence.where->line});
      }
    }
  }
  return blamed;
}

void LeaveOut(const std::set<Place>& blamed, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.verdict != Verdict::kFound) continue;
    double left_out_ms = 0;
    std::erase_if(finding.evidence, [&](const Evidence& evidence) {
      const bool known = evidence.where && blamed.contains({evidence.where->path, evidence.where->line});
      left_out_ms += known ? evidence.ms : 0;
      return known;
    });
    if (left_out_ms <= 0) continue;
    finding.title += fmt::format("; {} of it is in other findings", MsText(left_out_ms));
    finding.cost_pct *= std::max(0.0, 1 - left_out_ms / finding.cost_ms_per_step);
    finding.cost_ms_per_step = std::max(0.0, finding.cost_ms_per_step - left_out_ms);
    finding.severity = std::min(finding.severity, SeverityOfShare(finding.cost_pct));
  }
  std::erase_if(findings, [](const Finding& finding) {
    return finding.verdict == Verdict::kFound && (finding.cost_pct < kLeastPct || finding.evidence.empty());
  });
}

// The report still shows it, below what can be changed.
void TellReasonFirst(std::span<const Analyzer* const> analyzers, const std::vector<std::vector<Finding>>& findings,
                     std::span<const std::string_view> reasons, std::vector<Finding>& whole) {
  double known_ms = 0;
  for (std::size_t i = 0; i < analyzers.size(); ++i) {
    if (std::ranges::find(reasons, analyzers[i]->id) == reasons.end()) continue;
    for (const Finding& finding : findings[i]) {
      const bool counts =
          finding.verdict == Verdict::kFound && finding.severity > Severity::kInfo && !finding.per_epoch;
      if (counts) known_ms = std::max(known_ms, finding.worth_ms());
    }
  }
  for (Finding& finding : whole) {
    if (finding.verdict == Verdict::kFound && known_ms >= kKnownShare * finding.cost_ms_per_step) {
      finding.severity = Severity::kInfo;
    }
  }
}

void LeaveToLock(const Finding& lock, std::vector<Finding>& spread) {
  if (!IsFound(spread) || lock.cost_ms_per_step < kKnownShare * spread.front().cost_ms_per_step) return;
  spread = {Finding::CannotTell(fmt::format("the waits that {} reports are in its times", kLock))};
}

// Steps that get longer because graphs are kept: the cause is told, with what it costs.
void TellCause(Finding& kept, std::vector<Finding>& growing) {
  Finding& growth = growing.front();
  const bool in_forward =
      std::ranges::any_of(growth.claims, [](const Claim& one) { return one.part == Part::kForward; });
  if (in_forward) return;
  kept.title += "; " + growth.title;
  kept.severity = std::max(kept.severity, growth.severity);
  kept.cost_ms_per_step = growth.cost_ms_per_step;
  kept.cost_pct = growth.cost_pct;
  kept.cost_is = growth.cost_is;
  kept.evidence.insert(kept.evidence.end(), growth.evidence.begin(), growth.evidence.end());
  growing = {Finding::NotApplicable(fmt::format("{} reports it, with its cause", kKeptGraphs))};
}

// One table is most of what the optimizer passes over: what remains for another form of the optimizer is little.
void LeaveToTable(const std::vector<Finding>& tables, std::vector<Finding>& optimizers) {
  double claimed_ms = 0;
  for (const Finding& finding : tables) {
    for (const Claim& claim : finding.claims) claimed_ms += claim.part == Part::kOptimizer ? claim.ms : 0;
  }
  for (Finding& finding : optimizers) {
    if (finding.verdict != Verdict::kFound || claimed_ms < kKnownShare * finding.cost_ms_per_step) continue;
    const double left = std::max(0.0, 1 - claimed_ms / finding.cost_ms_per_step);
    finding.title += fmt::format("; {} of it are an embedding's, see {}",
                                 MsText(std::min(claimed_ms, finding.cost_ms_per_step)), kTables);
    finding.cost_ms_per_step *= left;
    finding.cost_pct *= left;
    finding.severity = std::min(finding.severity, SeverityOfShare(finding.cost_pct));
  }
}

}  // namespace

void CountOnce(std::span<const Analyzer* const> analyzers, std::vector<std::vector<Finding>>& findings) {
  const auto of = [&](std::string_view id) -> std::vector<Finding>* {
    const auto found = std::ranges::find(analyzers, id, [](const Analyzer* one) { return one->id; });
    return found == analyzers.end() ? nullptr : &findings[static_cast<std::size_t>(found - analyzers.begin())];
  };
  for (const auto& [says, also] : kSays) {
    std::vector<Finding>*first = of(says), *second = of(also);
    if (first == nullptr || second == nullptr || !IsFound(*first) || !IsFound(*second)) continue;
    if (says == "too-many-workers" && !first->front().per_epoch) continue;
    *second = {Finding::NotApplicable(fmt::format("{} reports this time", says))};
  }
  const std::vector<Finding>* lock = of(kLock);
  if (lock != nullptr && IsFound(*lock)) {
    for (const std::string_view id : kSpreadOver) {
      if (std::vector<Finding>* spread = of(id)) LeaveToLock(lock->front(), *spread);
    }
  }
  std::vector<Finding>*kept = of(kKeptGraphs), *growing = of(kGrowth);
  if (kept != nullptr && growing != nullptr && IsFound(*kept) && IsFound(*growing)) TellCause(kept->front(), *growing);
  const std::vector<Finding>* tables = of(kTables);
  std::vector<Finding>* optimizers = of(kOptimizer);
  if (tables != nullptr && optimizers != nullptr && IsFound(*tables)) LeaveToTable(*tables, *optimizers);
  for (const Whole& whole : kWholes) {
    if (std::vector<Finding>* found = of(whole.rule)) TellReasonFirst(analyzers, findings, whole.reasons, *found);
  }
  if (std::vector<Finding>* general = of(kGeneral)) LeaveOut(BlamedPlaces(analyzers, findings), *general);
}

}  // namespace loopscope
