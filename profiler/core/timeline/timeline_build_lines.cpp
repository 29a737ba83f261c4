// Which line of the program an average step's time belongs to. Lines are known in steps whose calls were followed, or
// else whose operators have call stacks; both slow a step down. So these give the proportions, and undisturbed steps
// the times: of each operator, and of each gap by the operators at its ends.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/core/timeline/line_pieces.h"
#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

// Operators of one name in one part, or gaps between operators of the same two names.
struct Cell {
  Part part;
  bool in_operator;
  StringId first, second;
  bool operator==(const Cell&) const = default;
};

struct CellHash {
  std::size_t operator()(const Cell& cell) const {
    std::uint64_t hash = static_cast<std::uint64_t>(cell.part) << 1 | static_cast<std::uint64_t>(cell.in_operator);
    hash = (hash << 32 ^ cell.first) * 0x9e3779b97f4a7c15ull;
    return (hash ^ cell.second) * 0x9e3779b97f4a7c15ull >> 7;
  }
};

constexpr double kMostGuessed = 0.05;  // of the step: what no step with lines holds is spread no further than that

// A line in a cell: whose time it is.
struct Owner {
  std::uint32_t stack;
  StringId what;
  auto operator<=>(const Owner&) const = default;
};
using Shares = std::map<Owner, double>;  // ns

class LineTable {
 public:
  LineTable(const Timeline& timeline, const LinePieces& pieces) : timeline_(timeline), pieces_(pieces) {}

  // A step that shows what belongs to which line: `best` where it shows more than others.
  void AddProportions(const Step& step, bool best) {
    const auto add = [&](const Cell& cell, const Owner& owner, double ns) {
      if (ns <= 0) return;
      (best ? best_ : others_)[cell][owner] += ns;
      if (!best) return;
      // What undisturbed steps hold and no step with lines does is spread as the rest of its kind is.
      kinds_[{cell.part, cell.in_operator, 0, 0}][owner] += ns;
      kinds_[{cell.part, false, 1, 1}][owner] += ns;
    };
    pieces_.ForEach(step.time, [&](const LinePiece& piece) {
      const double ns = static_cast<double>(piece.time.length());
      const std::uint32_t stack = Canonical(piece.stack);
      const Cell cell = CellOf(piece);
      if (piece.op != 0) {
        add(cell, {stack, piece.op}, ns);
      } else {
        add(cell, {stack, piece.called}, ns * (1 - piece.own_share));
        add(cell, {stack, 0}, ns * piece.own_share);
      }
    });
  }

  // A step that shows how long things take.
  void AddTimes(const Step& step, double weight) {
    pieces_.ForEach(step.time, [&](const LinePiece& piece) {
      const double ns = weight * static_cast<double>(piece.time.length());
      // Without operators a gap's ends are not known: a small one is spread as its part is, a large one is nobody's.
      times_[step.operators ? CellOf(piece) : Cell{piece.part, false, 1, 1}] += ns;
      total_ns_ += ns;
    });
  }

  std::vector<LineShare> Lines(double mean_step_ms) const {
    std::map<std::tuple<std::uint32_t, StringId, Part, bool>, double> rows;
    for (const auto& [cell, ns] : times_) Spread(cell, ns, rows);
    std::vector<LineShare> lines;
    for (const auto& [row, ns] : rows) {
      const auto& [stack, what, part, in_operator] = row;
      lines.push_back({stack, what, part, in_operator, ns / total_ns_ * mean_step_ms, 0});
    }
    std::ranges::stable_sort(lines, std::ranges::greater{}, &LineShare::ms);
    return lines;
  }

 private:
  static Cell CellOf(const LinePiece& piece) {
    return {piece.part, piece.op != 0, piece.op != 0 ? piece.op : piece.before, piece.op != 0 ? 0 : piece.after};
  }

  // Stacks of one place count as one.
  std::uint32_t Canonical(std::uint32_t stack) {
    const std::vector<Stack>& stacks = timeline_.trace().stacks;
    if (stack >= stacks.size() || (stacks[stack].frames.empty() && stacks[stack].library.empty())) return kNone;
    const auto first = [](const std::vector<Where>& frames) { return frames.empty() ? Where{} : frames.front(); };
    return places_.try_emplace({first(stacks[stack].frames), first(stacks[stack].library)}, stack).first->second;
  }

  const Shares* SharesOf(const Cell& cell, double ns) const {
    for (const auto* from : {&best_, &others_}) {
      if (const auto exact = from->find(cell); exact != from->end()) return &exact->second;
    }
    if (ns > kMostGuessed * total_ns_) return nullptr;
    for (const Cell& kind : {Cell{cell.part, cell.in_operator, 0, 0}, Cell{cell.part, false, 1, 1}}) {
      if (const auto found = kinds_.find(kind); found != kinds_.end()) return &found->second;
    }
    return nullptr;
  }

  template <class Rows>
  void Spread(const Cell& cell, double ns, Rows& rows) const {
    const StringId op = cell.in_operator ? cell.first : 0;
    const Shares* shares = SharesOf(cell, ns);
    if (shares == nullptr) {
      rows[{kNone, op, cell.part, cell.in_operator}] += ns;
      return;
    }
    double all = 0;
    for (const auto& [owner, part] : *shares) all += part;
    for (const auto& [owner, part] : *shares) {
      rows[{owner.stack, op != 0 ? op : owner.what, cell.part, cell.in_operator}] += ns * part / all;
    }
  }

  const Timeline& timeline_;
  const LinePieces& pieces_;
  std::map<std::pair<Where, Where>, std::uint32_t> places_;
  std::unordered_map<Cell, Shares, CellHash> best_, others_, kinds_;
  std::unordered_map<Cell, double, CellHash> times_;
  double total_ns_ = 0;
};

}  // namespace

void TimelineBuilder::FindLines() {
  const std::span<const Step> steps = timeline_.steps();
  if (timeline_.steady().empty() || timeline_.trace_.stacks.empty()) return;
  const bool any_followed = std::ranges::any_of(steps, [](const Step& step) { return step.plain() && step.followed; });
  const LinePieces pieces(timeline_);
  LineTable table(timeline_, pieces);
  bool shows_lines = false;
  for (const Step& step : steps) {
    if (!step.plain() || !step.operators || !(step.followed || step.detail)) continue;
    const bool best = step.followed || !any_followed;
    table.AddProportions(step, best);
    shows_lines |= best;
  }
  if (!shows_lines) return;
  for (const PartedStep& one : timeline_.parted()) {
    table.AddTimes(steps[one.index], one.weight);
  }
  timeline_.lines_ = table.Lines(timeline_.mean_step_ms());
}

}  // namespace loopscope
