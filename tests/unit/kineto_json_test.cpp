// The pieces that read JSON: scanning for the ends of elements, cutting windows, reading values.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/json/windows.h"

namespace loopscope {
namespace {

// Hands out a text in pieces of at most `piece` bytes.
class TextSource : public JsonSource {
 public:
  TextSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  Result<std::size_t> Read(char* to, std::size_t size) override {
    const std::size_t taken = std::min({size, piece_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, taken);
    at_ += taken;
    return taken;
  }

 private:
  std::string text_;
  std::size_t piece_, at_ = 0;
};

struct Padded {
  explicit Padded(const std::string& text) : bytes(text + std::string(kJsonPadding, '\0')), size(text.size()) {}
  JsonCursor cursor() const { return JsonCursor(std::string_view(bytes).substr(0, size)); }
  std::string bytes;
  std::size_t size;
};

// Byte by byte, as the definition has it.
JsonScan Naive(std::string_view text, std::int64_t base) {
  JsonScan scan;
  JsonScanState state;
  state.depth = base;
  bool in_string = false;
  for (; scan.consumed < text.size() && !scan.closed; ++scan.consumed) {
    const char byte = text[scan.consumed];
    if (in_string && byte == '\\') {
      ++scan.consumed;
      continue;
    }
    if (byte == '"') in_string = !in_string;
    if (in_string) continue;
    if (byte == '{' || byte == '[') ++state.depth;
    if (byte != '}' && byte != ']') continue;
    --state.depth;
    if (state.depth == base) scan.last_end = scan.consumed + 1;
    scan.closed = state.depth < base;
  }
  return scan;
}

TEST(JsonScan, AgreesWithTheDefinitionOnAnyPieces) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (int i = 0; i < 300; ++i) {
      switch (random() % 4) {
        case 0:
          text += R"({"a\"]": [1, "}\\"], "b": {}})";
          break;
        case 1:
          text += std::string(random() % 70, ' ');
          break;
        case 2:
          text += "\"" + std::string(random() % 70, '{') + "\\\\\",";
          break;
        default:
          text += "[[1,2],{}],";
      }
    }
    if (random() % 3 == 0) text += "] {}";
    const JsonScan expected = Naive(text, 1);
    JsonScanState state{1, false, false};
    std::size_t at = 0, last_end = JsonScan::kNowhere;
    bool closed = false;
    while (at < text.size() && !closed) {
      const JsonScan scan = ScanElements(std::string_view(text).substr(at, 1 + random() % 5000), 1, state);
      if (scan.last_end != JsonScan::kNowhere) last_end = at + scan.last_end;
      at += scan.consumed;
      closed = scan.closed;
    }
    ASSERT_EQ(last_end, expected.last_end);
    ASSERT_EQ(closed, expected.closed);
    ASSERT_EQ(at, expected.consumed);
  }
}

TEST(JsonScan, FindsAnEndFarBeforeThePieceEnds) {
  const std::string text = "{}," + std::string("{\"a\": \"") + std::string(1 << 20, 'x');
  JsonScanState state{1, false, false};
  EXPECT_EQ(ScanElements(text, 1, state).last_end, 2u);
  EXPECT_TRUE(state.in_string);
}

struct CutText {
  std::string elements;
  std::size_t windows = 0;
  std::vector<std::pair<std::string, std::string>> members;
  bool complete = false;
  std::uint64_t torn_bytes = 0;
};

CutText CutAll(const std::string& text, std::size_t piece) {
  JsonWindows windows(std::make_unique<TextSource>(text, piece), "traceEvents");
  CutText cut;
  JsonWindow window;
  for (Result<bool> next = windows.Next(window); next && *next; next = windows.Next(window)) {
    cut.elements += window.text;
    ++cut.windows;
  }
  cut.members = windows.members();
  cut.complete = windows.complete();
  cut.torn_bytes = windows.torn_bytes();
  return cut;
}

TEST(JsonWindows, MembersStandBeforeAndBehind) {
  const std::string text =
      R"( {"a": {"x": [1, "}"]}, "b": 12 , "traceEvents" : [ {"n": 1}, {"n": [2]} ], "c": "d\"e"})";
  for (const std::size_t piece : {1u, 2u, 7u, 1000u}) {
    const CutText cut = CutAll(text, piece);
    EXPECT_EQ(cut.elements, R"( {"n": 1}, {"n": [2]})");
    ASSERT_EQ(cut.members.size(), 3u);
    EXPECT_EQ(cut.members[0].second, R"({"x": [1, "}"]})");
    EXPECT_EQ(cut.members[1].second, "12 ");
    EXPECT_EQ(cut.members[2].second, R"("d\"e")");
    EXPECT_TRUE(cut.complete);
  }
}

TEST(JsonWindows, NoElementIsCutOrLost) {
  std::mt19937 random(11);
  std::string elements;
  for (int i = 0; i < 4000; ++i) {
    elements += (i ? "," : "") + std::string("{\"n\":\"") + std::string(random() % 2000, 'a') + "\"}";
  }
  const CutText cut = CutAll("[" + elements + "]", 100'000);
  EXPECT_EQ(cut.elements, elements);
  EXPECT_GT(cut.windows, 3u);
  EXPECT_TRUE(cut.complete);
  const CutText torn = CutAll("[" + elements + ",{\"n\":", 100'000);
  EXPECT_EQ(torn.elements, elements);
  EXPECT_FALSE(torn.complete);
  EXPECT_EQ(torn.torn_bytes, 6u);
}

TEST(JsonCursor, NumbersAreExact) {
  const auto scaled = [](const std::string& text) {
    const Padded padded(text);
    JsonCursor cursor = padded.cursor();
    std::int64_t value = 0;
    return cursor.Scaled(3, value) ? value : -99;
  };
  EXPECT_EQ(scaled("4458676522690.655"), 4458676522690655);
  EXPECT_EQ(scaled("4458676522690.6554"), 4458676522690655);
  EXPECT_EQ(scaled("4458676522690.6555"), 4458676522690656);
  EXPECT_EQ(scaled("1669783687464181"), 1669783687464181000);
  EXPECT_EQ(scaled("-1.5"), -1500);
  EXPECT_EQ(scaled("0.1"), 100);
  EXPECT_EQ(scaled("2e3"), 2'000'000);
  EXPECT_EQ(scaled("1.5E-3"), 2);
  EXPECT_EQ(scaled("1e300"), -99);
  EXPECT_EQ(scaled("99999999999999999999"), -99);
  EXPECT_EQ(scaled("nan"), -99);
  EXPECT_EQ(scaled("\"1\""), -99);
}

TEST(JsonCursor, StringsEndWhereTheyEnd) {
  const Padded padded(R"("a\\" , "b\"c" "open)");
  JsonCursor cursor = padded.cursor();
  std::string_view raw;
  ASSERT_TRUE(cursor.String(raw));
  EXPECT_EQ(raw, R"(a\\)");
  ASSERT_TRUE(cursor.Take(','));
  ASSERT_TRUE(cursor.String(raw));
  EXPECT_EQ(UnescapedJson(raw), "b\"c");
  EXPECT_FALSE(cursor.String(raw));
}

TEST(JsonCursor, EscapesBecomeUtf8) {
  EXPECT_EQ(UnescapedJson(R"(a\u00e9\ud83d\ude00\ud800x\/\q\u12)"), "a\u00e9\U0001f600\ufffdx/\\q\\u12");
}

}  // namespace
}  // namespace loopscope
