// Passes over the data, inferred from calls of samplers: which ones train, where epochs begin and end, how many samples
// were trained on. A pass trains when a backward pass follows one of its batches; others are evaluation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace loopscope {

class Passes {
 public:
  // The beginning and end of a training pass; 0: none to report.
  struct Epoch {
    std::uint64_t end_ns = 0, start_ns = 0;
  };

  Epoch Reset(const void* sampler, std::uint64_t now_ns) {
    const Epoch epoch = CloseExhausted();
    Pass& pass = Of(sampler);
    const bool evaluates = pass.evaluates;
    pass = {};
    pass.sampler = sampler;
    pass.evaluates = evaluates;
    pass.begin_ns = now_ns;
    pass.used = ++uses_;
    return epoch;
  }

  Epoch Batch(const void* sampler, std::uint64_t now_ns, std::uint64_t samples) {
    Pass& pass = Of(sampler);
    const bool other_pass_ran_out = exhausted_ != nullptr && exhausted_ != &pass;
    const Epoch epoch = other_pass_ran_out ? CloseExhausted() : Epoch{};
    current_ = &pass;
    if (pass.begin_ns == 0) pass.begin_ns = now_ns;
    pass.asked = true;
    if (pass.queued < pass.sizes.size()) pass.sizes[(pass.first + pass.queued++) % pass.sizes.size()] = samples;
    return epoch;
  }

  // Returns whether a training pass has just run out, seen for the first time. A loader with workers runs out before
  // training does, by the batches in flight, and asks again with each of them.
  bool RanOut(const void* sampler, std::uint64_t now_ns) {
    Pass& pass = Of(sampler);
    pass.asked = true;
    pass.ran_out_ns = now_ns;
    current_ = &pass;
    pass.evaluates = !pass.trains;
    if (!pass.trains) return false;
    exhausted_ = &pass;
    const bool first = !pass.reported;
    pass.reported = true;
    return first;
  }

  Epoch Backward() {
    Epoch epoch;
    if (current_ == nullptr || !current_->asked) return epoch;
    current_->asked = false;
    if (current_->queued > 0) {
      samples_total_ += current_->sizes[current_->first];
      current_->first = (current_->first + 1) % current_->sizes.size();
      --current_->queued;
    }
    if (!current_->trains) epoch.start_ns = current_->begin_ns;
    current_->trains = true;
    current_->evaluates = false;
    if (current_->ran_out_ns != 0) exhausted_ = current_;  // it was short, and ran out before its first batch was used
    return epoch;
  }

  void StepEnded(std::uint64_t time_ns) { last_step_ns_ = time_ns; }
  // The end of a pass that ran out, once.
  Epoch CloseExhausted() {
    Epoch epoch;
    if (exhausted_ == nullptr) return epoch;
    epoch.end_ns = std::max(exhausted_->ran_out_ns, last_step_ns_ + 1);
    *exhausted_ = Pass{.sampler = exhausted_->sampler};
    exhausted_ = nullptr;
    return epoch;
  }

  std::uint64_t samples_total() const { return samples_total_; }
  // Whether the loader asked last has only been seen to evaluate.
  bool evaluates() const { return current_ != nullptr && current_->evaluates; }
  // Whether batches of the loader asked last are still to come, although it ran out.
  bool in_flight() const { return current_ != nullptr && current_->trains && current_->queued > 0; }

 private:
  struct Pass {
    const void* sampler = nullptr;
    std::uint64_t begin_ns = 0, ran_out_ns = 0, used = 0;
    bool asked = false;  // for a batch, since the last backward
    bool trains = false, evaluates = false, reported = false;
    std::array<std::uint64_t, 256> sizes{};  // of batches requested and not trained on yet, a ring
    std::size_t first = 0, queued = 0;
  };

  Pass& Of(const void* sampler) {
    Pass* oldest = &passes_[0];
    for (Pass& pass : passes_) {
      if (pass.sampler == sampler) {
        pass.used = ++uses_;
        return pass;
      }
      if (&pass != exhausted_ && pass.used < oldest->used) oldest = &pass;
    }
    if (current_ == oldest) current_ = nullptr;
    if (exhausted_ == oldest) exhausted_ = nullptr;
    *oldest = Pass{.sampler = sampler, .used = ++uses_};
    return *oldest;
  }

  std::array<Pass, 8> passes_{};
  Pass* current_ = nullptr;
  Pass* exhausted_ = nullptr;
  std::uint64_t uses_ = 0, samples_total_ = 0, last_step_ns_ = 0;
};

}  // namespace loopscope
