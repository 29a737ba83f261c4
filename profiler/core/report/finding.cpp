#include "profiler/core/report/finding.h"

#include <fmt/format.h>

#include <filesystem>

namespace loopscope {
namespace {

// FNV-1a, 64 bit (http://www.isthe.com/chongo/tech/comp/fnv/). A zero byte ends each part, so that parts cannot run
// into each other.
std::uint64_t HashPart(std::uint64_t hash, std::string_view part) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char byte : part) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  return hash * kPrime;
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kLow:
      return "low";
    case Severity::kMedium:
      return "medium";
    case Severity::kHigh:
      return "high";
  }
  return "info";
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFound:
      return "found";
    case Verdict::kClear:
      return "clear";
    case Verdict::kCannotTell:
      return "cannot-tell";
    case Verdict::kNotApplicable:
      return "not-applicable";
  }
  return "cannot-tell";
}

std::string_view CostKindName(CostKind kind) {
  switch (kind) {
    case CostKind::kBound:
      return "bound";
    case CostKind::kMeasured:
      return "measured";
    case CostKind::kExact:
      return "exact";
    case CostKind::kLeast:
      return "least";
  }
  return "bound";
}

std::string_view TimeName(Time time) {
  switch (time) {
    case Time::kLongSteps:
      return "long_steps";
    case Time::kEpochStart:
      return "epoch_start";
    case Time::kEvaluation:
      return "evaluation";
    case Time::kAnyLine:
      return "any_line";
    case Time::kGrowth:
      return "growth";
    case Time::kOptimizer:
      return PartName(Part::kOptimizer);
    case Time::kIdleDevices:
      return "idle_devices";
    case Time::kLoaderWait:
      return PartName(Part::kLoaderWait);
    case Time::kCopyToDevice:
      return PartName(Part::kCopyToDevice);
    case Time::kCommunication:
      return PartName(Part::kCommunication);
    case Time::kOther:
      return PartName(Part::kOther);
    case Time::kBetweenSteps:
      return "other_between_steps";
    case Time::kCalls:
      return "calls";
    case Time::kItsPlaces:
      return "its_places";
  }
  return "other";
}

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kReason:
      return "reason";
    case Standing::kWhole:
      return "whole";
    case Standing::kGivesWay:
      return "gives_way";
    case Standing::kDoubted:
      return "doubted";
    case Standing::kRest:
      return "rest";
  }
  return "reason";
}

const Claim* Finding::ClaimOf(Time time) const {
  const auto found = std::ranges::find(claims, time, &Claim::of);
  return found == claims.end() ? nullptr : &*found;
}

Finding Finding::Clear(std::string reason) {
  Finding finding;
  finding.verdict = Verdict::kClear;
  finding.reason = std::move(reason);
  return finding;
}

Finding Finding::CannotTell(std::string reason) {
  Finding finding;
  finding.verdict = Verdict::kCannotTell;
  finding.reason = std::move(reason);
  return finding;
}

Finding Finding::NotApplicable(std::string reason) {
  Finding finding;
  finding.verdict = Verdict::kNotApplicable;
  finding.reason = std::move(reason);
  return finding;
}

std::string FindingId(std::string_view rule, const std::optional<Where>& where) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;
  std::uint64_t hash = HashPart(kOffsetBasis, rule);
  hash = HashPart(hash, where ? std::string_view(where->path) : "");
  hash = HashPart(hash, where ? std::string_view(where->function) : "");
  return fmt::format("{:016x}", hash).substr(0, 12);
}

std::string RelativePath(std::string_view path, std::string_view directory) {
  // Compilers leave the build folder in paths: /train/build/../loop.cpp.
  std::string normal(path);
  if (path.find("/../") != path.npos) normal = std::filesystem::path(path).lexically_normal().native();
  while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
  const bool inside = directory.size() > 1 && normal.size() > directory.size() + 1 && normal.starts_with(directory) &&
                      normal[directory.size()] == '/';
  return inside ? normal.substr(directory.size() + 1) : normal;
}

Severity SeverityOfShare(double pct) {
  if (pct >= 20) return Severity::kHigh;
  if (pct >= 5) return Severity::kMedium;
  return pct >= 1 ? Severity::kLow : Severity::kInfo;
}

}  // namespace loopscope
