#include "workloads/train_text/texts.h"

#include <algorithm>

#include "workloads/common/random.h"

namespace loopscope::train::text {
namespace {

constexpr std::uint64_t kFormat = 1;  // version of the texts: raise it when they change
constexpr int kShortest = 16;         // tokens; seq.max_len may cut more
constexpr int kTopics = 4;
constexpr int kPairs = 3;        // of words, per topic
constexpr int kPairEvery = 6;    // tokens
constexpr int kStrayEvery = 12;  // tokens
constexpr int kTopicWords = 2 * kPairs * kTopics;

std::uint64_t KeyOf(Part part, std::size_t index) {
  return Hash(kFormat, static_cast<std::uint64_t>(part), index);
}

int Below(Random& random, int limit) {
  return std::min(limit - 1, static_cast<int>(random.Uniform() * limit));
}

// The word of a topic's pair that comes first in voice 0, or the other.
std::int64_t TopicWord(int topic, int pair, int which) {
  return kPaddingToken + 1 + (topic * kPairs + pair) * 2 + which;
}

}  // namespace

Texts::Texts(Part part, const Settings& settings)
    : part_(part),
      size_(static_cast<std::size_t>(part == Part::kTrain ? settings.train_texts : settings.val_texts)),
      vocabulary_(settings.vocabulary),
      longest_(settings.longest),
      max_len_(settings.max_len) {}

int Texts::FullLength(std::size_t index) const {
  Random random(Hash(KeyOf(part_, index), 1));
  const double share = random.Uniform();
  return kShortest + static_cast<int>(share * share * (longest_ - kShortest + 1));
}

int Texts::length(std::size_t index) const {
  return std::min(FullLength(index), max_len_);
}

void Texts::Write(std::size_t index, std::int64_t* tokens) const {
  const int full = FullLength(index), topic = label(index) / 2, voice = label(index) % 2;
  Random random(KeyOf(part_, index));
  std::vector<std::int64_t> text(static_cast<std::size_t>(full), 0);
  const int common = vocabulary_ - kTopicWords - 1;
  for (std::int64_t& token : text) token = kPaddingToken + 1 + kTopicWords + Below(random, common);
  for (int n = 0; n < full / kStrayEvery; ++n) {
    text[static_cast<std::size_t>(Below(random, full))] =
        TopicWord(Below(random, kTopics), Below(random, kPairs), Below(random, 2));
  }
  for (int n = 0; n < std::max(1, full / kPairEvery); ++n) {
    const auto at = static_cast<std::size_t>(Below(random, full - 1));
    const int pair = Below(random, kPairs);
    text[at] = TopicWord(topic, pair, voice);
    text[at + 1] = TopicWord(topic, pair, 1 - voice);
  }
  std::ranges::copy_n(text.begin(), length(index), tokens);
}

}  // namespace loopscope::train::text
