// The knobs of a training program: one table that parses, prints and explains every setting, and those among them that
// a treatment asks for.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace loopscope::train {

struct Knob {
  using Setting = std::variant<bool*, int*, double*, std::string*>;

  std::string_view key;      // "loader.workers"
  Setting setting;           // on/off knobs are bool
  std::string_view choices;  // "off|bf16" for text, "0..64" for numbers; empty for on/off
  std::string_view place;    // where it acts, in workloads/: "train_image/augment.cpp:crop"
  std::string_view rows;     // rows of the table of tricks, "-" for none
  std::string_view meaning;  // one line
};

// The knob's setting, as the text that Knobs::Assign takes.
std::string ValueOf(const Knob& knob);

// The values a knob takes: "on|off", "off|bf16", "0..64".
std::string_view ValuesOf(const Knob& knob);

class Knobs {
 public:
  using Reason = std::optional<std::string>;

  // `conflict` returns why the current settings cannot train together, `idle` why a knob has no effect with them.
  Knobs(std::vector<Knob> knobs, std::function<Reason()> conflict, std::function<Reason(std::string_view key)> idle)
      : knobs_(std::move(knobs)), conflict_(std::move(conflict)), idle_(std::move(idle)) {}

  const Knob* Find(std::string_view key) const;

  const std::vector<Knob>& all() const { return knobs_; }

  // The value of a knob, which must exist.
  std::string Value(std::string_view key) const { return ValueOf(*Find(key)); }

  // Sets the knob; returns what is wrong with the value, if anything, and then changes nothing.
  Reason Assign(const Knob& knob, std::string_view value) const;

  // Sets "key=value"; on error returns a message that names the item and what would be valid.
  Reason AssignItem(std::string_view item) const;

  Reason Conflict() const { return conflict_(); }
  Reason Idle(std::string_view key) const { return idle_(key); }

  // The table for --list-knobs, with the settings as they are for defaults.
  std::string Describe() const;

 private:
  std::vector<Knob> knobs_;
  std::function<Reason()> conflict_;
  std::function<Reason(std::string_view)> idle_;
};

// Knobs that LOOPSCOPE_TREATMENT asks for: applied over presets and --set, and reported back once they are in effect.

// A knob that the treatment has changed, and its value before.
struct TreatedKnob {
  const Knob* knob;
  std::string before;
};

// Values read back from where they act, by key; missing keys act as set.
using InEffect = std::map<std::string, std::string, std::less<>>;

// Applies the requested treatment. Reports items that cannot be applied as not applicable, with the reason.
std::vector<TreatedKnob> ApplyTreatment(const Knobs& knobs);

// Reports each treated knob: applied with the value read back, or not applicable when that has not changed.
void ReportTreatment(const std::vector<TreatedKnob>& treated, const Knobs& knobs, const InEffect& in_effect);

// A request that cannot be fulfilled: the program reports it in one line and ends with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace loopscope::train
