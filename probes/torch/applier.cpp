#include "probes/torch/applier.h"

#include <array>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "probes/environment.h"
#include "probes/torch/api.h"
#include "probes/wire.h"

namespace loopscope {

#define LOOPSCOPE_APPLIER(stem, constant) extern const Applier constant;
#include "probes/torch/treatments/appliers.def"
#undef LOOPSCOPE_APPLIER

namespace {

#define LOOPSCOPE_APPLIER(stem, constant) &constant,
constexpr std::array kAppliers = {
#include "probes/torch/treatments/appliers.def"
};
#undef LOOPSCOPE_APPLIER

struct Asked {
  const Applier* applier = nullptr;  // null: not requested
  std::string value, old_value, refusal, failure;
  bool looked_at = false;  // its precondition has been checked
  bool changed = false;
  // For one that is switched between steps.
  bool live = false, on = false;
  std::string own;          // the state at the last end of a step while it was off
  std::uint64_t times = 0;  // Applier::times, when last asked
};

struct State {
  std::mutex lock;
  std::array<Asked, kAppliers.size()> asked;
  bool any = false;
};

// Never destroyed: the loop may go on while static objects go.
State& Treatments() {
  static State* state = new State;
  return *state;
}

// Settings from the launcher's environment.
bool IsReadBackOnly(const Applier& applier) {
  return applier.write == nullptr;
}

void Ask(std::string_view key, std::string_view value, bool live) {
  for (std::size_t n = 0; n < kAppliers.size(); ++n) {
    if (kAppliers[n]->key != key || (live && IsReadBackOnly(*kAppliers[n]))) continue;
    Treatments().asked[n].applier = kAppliers[n];
    Treatments().asked[n].value = value;
    Treatments().asked[n].live = live;
    Treatments().any |= !IsReadBackOnly(*kAppliers[n]);
  }
}

bool IsProgramsOwn(const Asked& asked) {
  return api->claimed(std::string(asked.applier->key).c_str());
}

void Acted(Asked& asked) {
  asked.changed = true;
  api->live_acted(std::string(asked.applier->key).c_str());
}

void SwitchMoments(Asked& asked, Moment moment) {
  const Applier& applier = *asked.applier;
  // A scope that is open when it is switched off is closed by its usual end.
  if (asked.on || moment != Moment::kBatchBegin) applier.at(moment, asked.value);
  const std::uint64_t times = applier.times();
  if (times != asked.times) Acted(asked);
  asked.times = times;
}

// While on, it is asserted at every moment; when off, the program's own setting is restored.
void SwitchState(Asked& asked, bool was_on, Moment moment) {
  const Applier& applier = *asked.applier;
  std::string now = applier.read();
  if (asked.on) {
    if (now != asked.value) {
      if (!asked.changed) asked.old_value = now;
      applier.write(asked.value);
      Acted(asked);
    } else if (!asked.own.empty() && asked.own != asked.value) {
      Acted(asked);
    }
    return;
  }
  if (was_on && !asked.own.empty() && now != asked.own) applier.write(asked.own);
  if (!was_on && moment == Moment::kStepEnd) asked.own = std::move(now);
}

void SwitchLive(Asked& asked, Moment moment) {
  const bool was_on = asked.on;
  asked.on = api->live_state(std::string(asked.applier->key).c_str()) == 1;
  if (asked.applier->at != nullptr) {
    SwitchMoments(asked, moment);
  } else {
    SwitchState(asked, was_on, moment);
  }
}

void Assert(Asked& asked, Moment moment) {
  const Applier& applier = *asked.applier;
  if (!asked.looked_at) {
    asked.refusal = applier.refusal(asked.value);
    const bool fixed = asked.live && applier.at != nullptr && applier.times == nullptr;
    if (fixed) asked.refusal = "it cannot be switched between steps";
  }
  asked.looked_at = true;
  if (!asked.refusal.empty()) return;
  if (asked.live) return SwitchLive(asked, moment);
  if (applier.at != nullptr) return applier.at(moment, asked.value);
  std::string now = applier.read();
  if (now == asked.value) return;
  if (!asked.changed) asked.old_value = std::move(now);
  asked.changed = true;
  applier.write(asked.value);
}

void Report(const Asked& asked) {
  const Applier& applier = *asked.applier;
  const auto write = [&](std::string_view where, const std::string& old_value, const std::string& now,
                         std::uint32_t flags) {
    api->applied(std::string(applier.key).c_str(), std::string(where).c_str(), old_value.c_str(), now.c_str(), flags);
  };
  if (IsReadBackOnly(applier)) {
    const std::string refusal = applier.refusal(asked.value);
    if (!refusal.empty()) return write("", "", refusal, wire::kAppliedNotApplicable);
    const std::string read = applier.read(), &now = read.empty() ? asked.value : read;
    return write(applier.where, "", now, now == asked.value ? 0u : wire::kAppliedLost);
  }
  if (!asked.failure.empty()) return write(applier.where, "", asked.failure, wire::kAppliedFailed);
  if (!asked.looked_at) return write("", "", "the training loop was not reached", wire::kAppliedNotApplicable);
  if (!asked.refusal.empty()) return write("", "", asked.refusal, wire::kAppliedNotApplicable);
  const std::string now = asked.live && applier.at == nullptr ? asked.value : applier.read();
  if (applier.at != nullptr) {
    if (now == asked.value) return write(applier.where, "off", now, 0);
    return write("", "", now, wire::kAppliedNotApplicable);
  }
  if (!asked.changed) return write("", asked.value, "already " + asked.value, wire::kAppliedNotApplicable);
  write(applier.where, asked.old_value, now, now == asked.value ? 0u : wire::kAppliedLost);
}

}  // namespace

namespace {

void AskFor(const char* variable, bool live) {
  const char* text = std::getenv(variable);
  env::ForEachSetting(text != nullptr ? text : "",
                      [&](std::string_view key, std::string_view value) { Ask(key, value, live); });
}

}  // namespace

bool AskForTreatments() {
  AskFor(env::kTreatment, false);
  AskFor(env::kLiveTreatment, true);
  return Treatments().any;
}

void ApplyTreatments(Moment moment) {
  State& state = Treatments();
  if (!state.any) return;
  const std::lock_guard guard(state.lock);
  for (Asked& asked : state.asked) {
    if (asked.applier == nullptr || IsReadBackOnly(*asked.applier)) continue;
    if (!asked.failure.empty() || IsProgramsOwn(asked)) continue;
    try {
      Assert(asked, moment);
    } catch (const std::exception& error) {
      asked.failure = error.what();
    }
  }
}

void ReportTreatments() {
  State& state = Treatments();
  const std::lock_guard guard(state.lock);
  for (const Asked& asked : state.asked) {
    if (asked.applier != nullptr && !IsProgramsOwn(asked)) Report(asked);
  }
}

}  // namespace loopscope
