#include "profiler/experiments/candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "profiler/core/report/expected_gain.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

constexpr double kFirmPct = 5;  // of the step

struct Item {
  std::string key;
  std::optional<std::string> value;
};

Item ParseItem(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Error UnknownTreatment(const std::string& key) {
  std::vector<std::string_view> ids;
  for (const Treatment* one : AllTreatments()) ids.push_back(one->id);
  return {"there is no such treatment", key, fmt::format("choose from: {}", fmt::join(ids, ", "))};
}

Candidate* FindCandidate(std::vector<Candidate>& candidates, std::string_view id) {
  const auto found = std::ranges::find(candidates, id, [](const Candidate& one) { return one.treatment->id; });
  return found == candidates.end() ? nullptr : &*found;
}

void PutFirst(std::vector<std::string>& values, const std::string& value) {
  std::erase(values, value);
  values.insert(values.begin(), value);
}

void AddCandidate(std::vector<Candidate>& candidates, const Treatment& treatment, const Finding& finding,
                  const Host& host) {
  Candidate* candidate = FindCandidate(candidates, treatment.id);
  if (candidate == nullptr) {
    std::vector<std::string> values = treatment.ValuesFor(finding, host);
    if (values.empty()) return;
    candidates.push_back({.treatment = &treatment, .values = std::move(values), .rules = {}});
    candidate = &candidates.back();
  }
  if (!finding.treatment.empty() && treatment.id == finding.treatment_id) {
    PutFirst(candidate->values, finding.treatment);
  }
  if (std::ranges::find(candidate->rules, finding.rule) == candidate->rules.end()) {
    candidate->rules.push_back(finding.rule);
  }
  candidate->cost_ms += ExpectedGainOf(finding).ms;
  candidate->firm |= finding.cost_pct >= kFirmPct && !finding.only_bounded();
}

// The treatment that the finding names, then others that cure its rule.
void AddFinding(std::vector<Candidate>& candidates, Finding finding, const Host& host, const Trace& trace) {
  if (finding.verdict != Verdict::kFound) return;
  const Treatment* const first = TreatmentFor(finding.rule);
  if (finding.treatment_id.empty() && first) finding.treatment_id = first->id;
  for (const Treatment* one : AllTreatments()) {
    const bool fits = Cures(*one, finding.rule) || one->id == finding.treatment_id;
    if (fits && CanApply(*one, trace.facts, trace.knobs)) AddCandidate(candidates, *one, finding, host);
  }
}

Result<std::vector<Candidate>> Named(std::vector<Candidate> found, const std::vector<std::string>& only,
                                     const Host& host) {
  std::vector<Candidate> named;
  for (const std::string& text : only) {
    const Item item = ParseItem(text);
    const Treatment* treatment = FindTreatment(item.key);
    if (treatment == nullptr) return UnknownTreatment(item.key);
    const Candidate* known = FindCandidate(found, item.key);
    Candidate candidate =
        known != nullptr ? *known : Candidate{treatment, treatment->ValuesFor(Finding{}, host), {}, 0, false};
    if (item.value) candidate.values = {*item.value};
    if (candidate.values.empty()) {
      return Error{"there is no value worth trying on this machine", item.key,
                   fmt::format("name one: --only {}=VALUE", item.key)};
    }
    if (FindCandidate(named, item.key)) {
      return Error{"named twice", fmt::format("--only {}", item.key), "measure two values in two experiments"};
    }
    named.push_back(std::move(candidate));
  }
  return named;
}

// The largest value tried for a factor, or `untreated` if that is larger.
int Most(std::span<const Candidate> candidates, RunAheadFactor factor, int untreated) {
  int most = untreated;
  for (const Candidate& candidate : candidates) {
    if (candidate.treatment->run_ahead != factor) continue;
    for (const std::string& value : candidate.values) {
      int number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      most = std::max(most, number);
    }
  }
  return most;
}

}  // namespace

Result<std::vector<Candidate>> CandidatesOf(std::span<const Finding> findings, const Host& host,
                                            const Selection& selection, const Trace& trace) {
  std::vector<Candidate> candidates;
  for (const Finding& finding : findings) AddFinding(candidates, finding, host, trace);
  if (!selection.only.empty()) {
    Result<std::vector<Candidate>> named = Named(std::move(candidates), selection.only, host);
    if (!named) return named.error();
    candidates = std::move(*named);
  }
  for (const std::string& key : selection.skip) {
    if (!FindTreatment(key)) return UnknownTreatment(key);
    std::erase_if(candidates, [&](const Candidate& one) { return one.treatment->id == key; });
  }
  std::ranges::stable_sort(candidates, std::ranges::greater{},
                           [](const Candidate& one) { return std::pair(one.firm, one.cost_ms); });
  return candidates;
}

Metric StepMetric(std::span<const Candidate> candidates) {
  const bool other_samples = std::ranges::any_of(
      candidates, [](const Candidate& one) { return one.treatment->metric == Metric::kSampleTime; });
  return other_samples ? Metric::kSampleTime : Metric::kStepTime;
}

bool JudgedByBoundary(const Candidate& candidate) {
  return candidate.treatment->metric == Metric::kEpochBoundary;
}

SameWork SameWorkOf(std::span<const Candidate> candidates) {
  const bool other_training = std::ranges::any_of(
      candidates, [](const Candidate& one) { return one.treatment->exactness == Exactness::kChangesTraining; });
  return {.step_metric = StepMetric(candidates), .epochs = !other_training};
}

int RunAhead(std::span<const Candidate> candidates, const LoaderDepth& untreated) {
  return Most(candidates, RunAheadFactor::kWorkers, untreated.workers) *
         Most(candidates, RunAheadFactor::kPrefetch, untreated.prefetch);
}

bool ChangesRunAhead(std::span<const Candidate> candidates) {
  const SameWork same = SameWorkOf(candidates);
  return same.epochs && same.step_metric == Metric::kStepTime &&
         std::ranges::any_of(candidates,
                             [](const Candidate& one) { return one.treatment->run_ahead != RunAheadFactor::kNeither; });
}

}  // namespace loopscope
