// Chooses what ends a training step, once per run: marks of the program, an NVTX range named "step", the primary
// optimizer's step, backward passes, or gradients that are taken without one, in this order. Until the choice has
// settled, steps are held back, so that the capture contains only one clock's steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace loopscope {

class StepClock {
 public:
  enum class Kind : std::uint8_t { kGradient, kBackward, kOptimizer, kRange, kMark };  // the later, the stronger

  // Steps of the chosen clock after which the choice is final: by then every optimizer of a usual loop has stepped.
  static constexpr std::uint64_t kSettleAfter = 5;
  // Backward passes, or gradients, without any optimizer step after which they are the clock themselves; and where the
  // program has made an optimizer that it does not ask to zero its gradients between them: it may accumulate over many
  // passes, or attack its inputs many times, before a step.
  static constexpr std::uint64_t kBackwardsToTrust = 24, kBackwardsBesideOptimizer = 256;
  static constexpr std::uint64_t kUpdatesToTrust = 3;  // out of sight, after which the passes are the clock
  // Steps in a row of another optimizer of the chosen one's class and size, after which it is taken for the chosen one
  // built anew (per fold, per restart). Optimizers that step alternately, such as those of two critics, never are.
  static constexpr std::uint64_t kStepsToInherit = 2;

  // `wanted`: the name of the clock to use ("optimizer:SGD#1", "mark" …); empty: choose. An optimizer is wanted by its
  // number, since a treatment may change its class.
  void Want(std::string_view wanted) {
    const std::size_t length = std::min(wanted.size(), sizeof wanted_ - 1);
    std::memcpy(wanted_, wanted.data(), length);
    wanted_[length] = '\0';
  }

  // The program has made an optimizer, which has not stepped yet.
  void ExpectOptimizer() { expects_optimizer_ = true; }
  void UpdatedOutOfSight() { ++unseen_; }  // since the last pass, by an unseen step: it is compiled
  // It was asked to zero its gradients: where its steps cannot be seen, each pass in between is one.
  void OptimizerZeroed() {
    zeroed_ += passes_since_zeroed_ > 0 ? 1 : 0;
    passes_since_zeroed_ = 0;
  }

  // A candidate's step ended at time_ns, when `samples_total` samples had been trained on in all. `object`
  // distinguishes optimizers; `parameters` is its size; `samples` is what the program says itself (0: unknown).
  // Calls emit(name, time_ns, samples) for each step that is now known to be one.
  template <class Emit>
  void Tick(Kind kind, const void* object, std::string_view class_name, std::uint64_t parameters, std::uint64_t time_ns,
            std::uint64_t samples_total, std::uint64_t samples, Emit emit) {
    Candidate* candidate = Find(kind, object, class_name, parameters);
    if (candidate == nullptr) return;
    ++candidate->count;
    passes_since_zeroed_ += kind <= Kind::kBackward ? 1 : 0;
    const Held step{candidate, time_ns, samples_total, samples};
    if (wanted_[0] != '\0' && !settled_ && Wanted(*candidate)) {
      chosen_ = candidate;
      settled_ = true;
    }
    if (Inherits(*candidate, step)) {
      const Held first = candidate->first_alone;
      Inherit(*candidate);
      candidate = chosen_;
      if (settled_) EmitOne({chosen_, first.time_ns, first.samples_total, first.samples}, emit);
    }
    if (settled_) {
      if (candidate == chosen_) EmitOne({chosen_, time_ns, samples_total, samples}, emit);
      return;
    }
    if (wanted_[0] != '\0') return;
    const bool may_be_reported = kind > Kind::kBackward || !expects_optimizer_;
    if (may_be_reported && held_count_ < held_.size())
      held_[held_count_++] = {candidate, time_ns, samples_total, samples};
    Choose(candidate);
    if (chosen_ != nullptr && held_count_ == 0)
      samples_emitted_ = samples_total;  // those of steps that are not reported
    const bool enough = chosen_ != nullptr && chosen_->count >= kSettleAfter;
    if (enough || held_count_ == held_.size()) Settle(emit);
  }

  // Emits the held-back steps: the run ends before the choice has settled.
  template <class Emit>
  void Settle(Emit emit) {
    if (settled_ || chosen_ == nullptr) return;
    settled_ = true;
    for (std::size_t n = 0; n < held_count_; ++n) {
      if (held_[n].candidate == chosen_) EmitOne(held_[n], emit);
    }
  }

  bool settled() const { return settled_; }
  bool settled_on_other_than(Kind kind) const { return settled_ && chosen_->kind != kind; }

 private:
  struct Candidate;
  struct Held {
    const Candidate* candidate = nullptr;
    std::uint64_t time_ns = 0, samples_total = 0, samples = 0;
  };
  struct Candidate {
    Kind kind{};
    const void* object = nullptr;  // of an optimizer; null: another inherited its place
    std::uint64_t parameters = 0, count = 0;
    int number = 0;  // optimizers, by their first step
    char name[56] = "";
    std::uint64_t alone = 0;  // steps since the chosen one's last
    Held first_alone{};
    bool in_turn = false;  // the chosen one stepped again after this one had
    std::uint64_t last_ns = 0;
  };

  Candidate* Find(Kind kind, const void* object, std::string_view class_name, std::uint64_t parameters) {
    for (std::size_t n = 0; n < candidate_count_; ++n) {
      Candidate& known = candidates_[n];
      if (known.kind != kind || (kind == Kind::kOptimizer && known.object != object)) continue;
      known.parameters = std::max(known.parameters, parameters);
      return &known;
    }
    Candidate* made = Place();
    if (made == nullptr) return nullptr;
    *made = {};
    made->kind = kind;
    made->object = object;
    made->parameters = parameters;
    Name(*made, class_name);
    return made;
  }

  // A free slot, or with too many optimizers the least recently used one.
  Candidate* Place() {
    if (candidate_count_ < candidates_.size()) return &candidates_[candidate_count_++];
    Candidate* oldest = nullptr;
    for (Candidate& one : candidates_) {
      if (!settled_ || &one == chosen_ || one.kind != Kind::kOptimizer) continue;
      if (oldest == nullptr || one.last_ns < oldest->last_ns) oldest = &one;
    }
    return oldest;
  }

  bool Inherits(Candidate& one, const Held& step) {
    one.last_ns = step.time_ns;
    if (&one == chosen_) {
      for (std::size_t n = 0; n < candidate_count_; ++n) {
        Candidate& other = candidates_[n];
        if (other.alone == 0) continue;
        other.in_turn = true;
        other.alone = 0;
      }
      return false;
    }
    if (++one.alone == 1) one.first_alone = step;
    // Whether it alternates with the chosen one is known from its second step on.
    return chosen_ != nullptr && chosen_->count > 1 && !one.in_turn && one.alone >= kStepsToInherit &&
           Alike(one, *chosen_);
  }

  static bool Alike(const Candidate& one, const Candidate& other) {
    const auto class_of = [](const Candidate& candidate) {
      const std::string_view name(candidate.name);
      return name.substr(0, name.rfind('#'));
    };
    return one.kind == Kind::kOptimizer && other.kind == Kind::kOptimizer && one.parameters == other.parameters &&
           class_of(one) == class_of(other);
  }

  void Inherit(Candidate& heir) {
    chosen_->object = heir.object;
    chosen_->count += heir.count;
    chosen_->last_ns = heir.last_ns;
    for (std::size_t n = 0; n < held_count_; ++n) {
      if (held_[n].candidate == &heir) held_[n].candidate = chosen_;
    }
    if (heir.number == optimizers_) --optimizers_;
    heir.object = nullptr;
    heir.last_ns = heir.alone = 0;
  }

  void Name(Candidate& made, std::string_view class_name) {
    switch (made.kind) {
      case Kind::kMark:
        std::strcpy(made.name, "mark");
        return;
      case Kind::kRange:
        std::strcpy(made.name, "nvtx:step");
        return;
      case Kind::kBackward:
        std::strcpy(made.name, "backward");
        return;
      case Kind::kGradient:
        std::strcpy(made.name, "gradient");
        return;
      case Kind::kOptimizer:
        break;
    }
    made.number = ++optimizers_;
    std::snprintf(made.name, sizeof made.name, "optimizer:%.*s#%d",
                  static_cast<int>(std::min<std::size_t>(class_name.size(), 32)), class_name.data(), made.number);
  }

  bool Wanted(const Candidate& candidate) const {
    if (std::strcmp(candidate.name, wanted_) == 0) return true;
    const char* number = std::strrchr(wanted_, '#');
    return candidate.kind == Kind::kOptimizer && std::strncmp(wanted_, "optimizer:", 10) == 0 && number != nullptr &&
           std::atoi(number + 1) == candidate.number;
  }

  void Choose(const Candidate* ticked) {
    // One optimizer may step before another of the same loop: nothing is chosen until one steps for the second time.
    if (ticked->kind == Kind::kOptimizer && ticked->count < 2 && chosen_ == nullptr) return;
    if (ticked->kind <= Kind::kBackward && !Trusted(*ticked)) return;
    for (std::size_t n = 0; n < candidate_count_; ++n) {
      Candidate& other = candidates_[n];
      if (other.kind <= Kind::kBackward && &other != ticked) continue;
      if (other.kind == Kind::kOptimizer && other.object == nullptr) continue;
      if (chosen_ == nullptr || Better(other, *chosen_)) chosen_ = &other;
    }
  }

  // Steps from before an optimizer was made are dropped: a gap would follow them.
  bool Trusted(const Candidate& ticked) {
    const bool stronger = std::ranges::any_of(candidates_.begin(), candidates_.begin() + candidate_count_,
                                              [&](const Candidate& other) { return other.kind > ticked.kind; });
    if (stronger) return false;
    if (!expects_optimizer_) return ticked.count >= kBackwardsToTrust;
    const bool unseen = zeroed_ >= kBackwardsToTrust || unseen_ >= kUpdatesToTrust;
    if (ticked.count < kBackwardsBesideOptimizer && !unseen) return false;
    held_count_ = 0;
    return true;
  }

  static bool Better(const Candidate& one, const Candidate& other) {
    if (one.kind != other.kind) return one.kind > other.kind;
    if (one.parameters != other.parameters) return one.parameters > other.parameters;
    return one.number < other.number;
  }

  template <class Emit>
  void EmitOne(const Held& held, Emit emit) {
    const std::uint64_t counted = held.samples_total - std::min(samples_emitted_, held.samples_total);
    samples_emitted_ = held.samples_total;
    emit(std::string_view(held.candidate->name), held.time_ns, held.samples != 0 ? held.samples : counted);
  }

  char wanted_[64] = "";
  std::array<Candidate, 16> candidates_{};
  std::size_t candidate_count_ = 0;
  int optimizers_ = 0;
  bool expects_optimizer_ = false;
  std::uint64_t zeroed_ = 0, passes_since_zeroed_ = 0, unseen_ = 0;
  Candidate* chosen_ = nullptr;
  bool settled_ = false;
  std::array<Held, 256> held_{};
  std::size_t held_count_ = 0;
  std::uint64_t samples_emitted_ = 0;
};

}  // namespace loopscope
