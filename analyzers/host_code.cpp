#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;       // of the step, together
constexpr double kMinPlaceSharePct = 1;  // of the step, of a line that is named
constexpr std::size_t kMostPlaces = 8;
constexpr std::size_t kMostNames = 2;  // in the title

// "torch.tensor and random.sample": what takes longest at the lines that are named.
std::string Names(const std::vector<PlaceTime>& places) {
  std::string text;
  std::set<std::string> named;
  for (const PlaceTime& place : places) {
    if (named.size() == kMostNames || place.ms < places.front().ms / 4) break;
    if (!named.insert(WhatText(place)).second) continue;
    text += (text.empty() ? "" : " and ") + WhatText(place);
  }
  return text;
}

// The framework's own code around the model, the optimizer and the loader does not count as the loop's.
bool IsFrameworks(std::string_view called) {
  return called.starts_with("torch.nn.Module.") || called.starts_with("torch.optim.") ||
         called.ends_with(".backward") || called.ends_with(".zero_grad") || called.ends_with("Optimizer.step") ||
         called.starts_with("DataLoader.");
}

std::vector<LineShare> OwnLines(const Timeline& timeline) {
  std::vector<LineShare> own(timeline.lines().begin(), timeline.lines().end());
  std::erase_if(own, [&](const LineShare& line) {
    const std::string_view what = timeline.trace().text(line.what);
    return ops::IsCompiledRegion(what) || (!line.in_operator && IsFrameworks(what));
  });
  return own;
}

// Lines that also run the model for at least as long: they call a trainer, whose code in between belongs to a library.
void DropTrainers(const Timeline& timeline, std::vector<PlaceTime>& places) {
  std::map<std::optional<Where>, double> passes_ms;
  for (const Part part : {Part::kForward, Part::kBackward}) {
    for (const PlaceTime& place : PlacesOf(timeline, timeline.lines(), part)) passes_ms[place.where] += place.ms;
  }
  std::erase_if(places, [&](const PlaceTime& place) {
    const auto found = passes_ms.find(place.where);
    return place.where && found != passes_ms.end() && found->second >= place.ms;
  });
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.lines().empty()) {
    return {Finding::CannotTell("no step of the window shows which lines of the program run")};
  }
  std::vector<PlaceTime> places = PlacesOf(timeline, OwnLines(timeline), Part::kOther);
  DropTrainers(timeline, places);
  double unknown_ms = 0, ms = 0;
  std::erase_if(places, [&](const PlaceTime& place) {
    const bool small = SharePct(timeline, place.ms) < kMinPlaceSharePct;
    if (!place.where) unknown_ms += place.ms;
    return small || !place.where;
  });
  for (const PlaceTime& place : places) ms += place.ms;
  if (SharePct(timeline, ms) < kMinSharePct) {
    if (SharePct(timeline, unknown_ms) < kMinSharePct) return {};
    return {Finding::CannotTell(
        fmt::format("{} per step is outside the model's passes at lines that are not known", MsText(unknown_ms)))};
  }
  const std::string names = Names(places);
  const std::string does =
      names == wire::kThreadWait
          ? fmt::format("the loop waits {} per step ({}) for another thread", MsText(ms), ShareText(timeline, ms))
          : fmt::format("the loop's own code takes {} per step ({})", MsText(ms), ShareText(timeline, ms));
  Finding finding = Costing(timeline, ms,
                            fmt::format("{}, outside loading, the model and the optimizer{}", does,
                                        names == wire::kThreadWait ? "" : ": " + names));
  for (const PlaceTime& place : places) {
    if (finding.evidence.size() == kMostPlaces) break;
    finding.evidence.push_back({fmt::format("{} per step ({}): {}{}", MsText(place.ms), ShareText(timeline, place.ms),
                                            WhatText(place), HintFor(place)),
                                1, place.where, place.ms});
  }
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kAnyLine, Standing::kDoubted}, Claim{Time::kIdleDevices},
                                Claim{Time::kItsPlaces, Standing::kRest}};

}  // namespace

extern const Analyzer kHostCode{.id = "host-code",
                                .question = "Does code of the loop's own take much of the step?",
                                .run = Run,
                                .needs = kNeedsOps | kNeedsQuiet,
                                .of_host = true,
                                .claims = kClaims,
                                .whatever_runs = true};

}  // namespace loopscope
