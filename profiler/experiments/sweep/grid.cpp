#include "profiler/experiments/sweep/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "profiler/core/text.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

constexpr char kHow[] =
    "a grid is made of settings such as loader.workers=0,1,2,4; `loopscope treatments` lists the keys";

std::optional<double> AsNumber(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Error NoSuchKey(const std::string& key) {
  std::vector<std::string> ids;
  for (const Treatment* one : AllTreatments()) ids.emplace_back(one->id);
  const std::string nearest = Nearest(key, ids);
  return {"there is no such treatment", key, nearest.empty() ? kHow : "did you mean " + nearest + "?"};
}

Result<SweepAxis> ParseAxis(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos || equals == 0) return Error{"is not of the form KEY=VALUE,VALUE", word, kHow};
  SweepAxis axis{word.substr(0, equals), SplitList(word.substr(equals + 1))};
  const Treatment* const treatment = FindTreatment(axis.key);
  if (treatment == nullptr) return NoSuchKey(axis.key);
  if (axis.values.empty()) return Error{"has no values", word, kHow};
  for (std::string& value : axis.values) {
    if (value.find_first_of("=; \t") != value.npos) return Error{"is not a value", value, kHow};
    if (treatment->is_switch && (value == "0" || value == "1")) value = value == "1" ? "on" : "off";
  }
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const auto first = std::ranges::find(axis.values, axis.values[i]);
    if (first - axis.values.begin() < static_cast<std::ptrdiff_t>(i)) {
      return Error{"holds " + axis.values[i] + " twice", word, "name each value once"};
    }
  }
  return axis;
}

// The place of each axis's value in a cell.
std::vector<int> Places(std::span<const SweepAxis> axes, int cell) {
  std::vector<int> places(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const int count = static_cast<int>(axes[axis].values.size());
    places[axis] = cell % count;
    cell /= count;
  }
  return places;
}

int IndexOf(std::span<const SweepAxis> axes, const std::vector<int>& places) {
  int cell = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    cell = cell * static_cast<int>(axes[axis].values.size()) + places[axis];
  }
  return cell;
}

// The live places on one axis next to `place`.
std::vector<int> Beside(const SweepAxis& axis, int place, const std::vector<int>& live) {
  std::vector<std::optional<double>> numbers;
  for (const std::string& value : axis.values) numbers.push_back(AsNumber(value));
  const bool ordered = std::ranges::all_of(numbers, [](const auto& number) { return number.has_value(); });
  if (!ordered) return live;
  std::optional<int> below, above;
  for (const int other : live) {
    const double value = *numbers[other], own = *numbers[place];
    if (value < own && (!below || value > *numbers[*below])) below = other;
    if (value > own && (!above || value < *numbers[*above])) above = other;
  }
  std::vector<int> beside;
  if (below) beside.push_back(*below);
  if (above) beside.push_back(*above);
  return beside;
}

// Seconds for four epochs of MNIST in batches of 64, by workers: pinned, unpinned (0: not given).
struct Published {
  int workers;
  double pinned_s, unpinned_s;
};
constexpr Published kPublished[] = {{0, 30.15, 25.26}, {5, 7.53, 6.70}, {10, 6.49, 4.47}, {15, 6.48, 4.78},
                                    {20, 6.97, 3.85},  {25, 8.73, 0},   {45, 10.47, 4.40}};

}  // namespace

Result<std::vector<SweepAxis>> ParseGrid(std::span<const std::string> words) {
  if (words.empty()) return Error{"no grid named", "sweep", kHow};
  std::vector<SweepAxis> axes;
  std::size_t cells = 1;
  for (const std::string& word : words) {
    Result<SweepAxis> axis = ParseAxis(word);
    if (!axis) return axis.error();
    if (std::ranges::find(axes, axis->key, &SweepAxis::key) != axes.end()) {
      return Error{"is named twice", axis->key, "put all of its values behind one " + axis->key + "="};
    }
    cells *= axis->values.size();
    if (cells > kMostCells) {
      return Error{fmt::format("the grid has {} cells and more", cells), "sweep",
                   fmt::format("at most {} can be swept: name fewer values", kMostCells)};
    }
    axes.push_back(std::move(*axis));
  }
  return axes;
}

std::vector<SweepCell> CellsOf(std::span<const SweepAxis> axes) {
  int count = 1;
  for (const SweepAxis& axis : axes) count *= static_cast<int>(axis.values.size());
  std::vector<SweepCell> cells(static_cast<std::size_t>(count));
  for (int cell = 0; cell < count; ++cell) {
    const std::vector<int> places = Places(axes, cell);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      cells[cell].values.push_back(axes[axis].values[places[axis]]);
    }
  }
  return cells;
}

std::vector<int> NeighboursOf(std::span<const SweepAxis> axes, int cell, const std::vector<bool>& live) {
  std::vector<int> neighbours;
  const std::vector<int> places = Places(axes, cell);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::vector<int> moved = places, others;
    for (int place = 0; place < static_cast<int>(axes[axis].values.size()); ++place) {
      moved[axis] = place;
      if (place != places[axis] && live[IndexOf(axes, moved)]) others.push_back(place);
    }
    for (const int place : Beside(axes[axis], places[axis], others)) {
      moved[axis] = place;
      neighbours.push_back(IndexOf(axes, moved));
    }
  }
  return neighbours;
}

std::string CellName(std::span<const SweepAxis> axes, const SweepCell& cell) {
  if (cell.values.empty()) return "as it is";
  std::string name;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    name += fmt::format("{}{}={}", axis == 0 ? "" : ", ", axes[axis].key, cell.values[axis]);
  }
  return name;
}

void AddPublished(SweepFacts& sweep) {
  const auto axis = [&](const char* key) { return std::ranges::find(sweep.axes, key, &SweepAxis::key); };
  const auto workers = axis("loader.workers"), pinned = axis("loader.pin_memory");
  if (sweep.axes.size() != 2 || workers == sweep.axes.end() || pinned == sweep.axes.end()) return;
  sweep.published = "seconds for four epochs of MNIST in batches of 64, on another machine";
  for (SweepCell& cell : sweep.cells) {
    if (cell.values.empty()) continue;
    const std::string& count = cell.values[workers - sweep.axes.begin()];
    for (const Published& one : kPublished) {
      const double seconds = cell.values[pinned - sweep.axes.begin()] == "on" ? one.pinned_s : one.unpinned_s;
      if (count == std::to_string(one.workers) && seconds > 0) cell.published_s = seconds;
    }
  }
  std::string on, off;
  for (const Published& one : kPublished) {
    on += fmt::format(" {}: {:.2f}", one.workers, one.pinned_s);
    if (one.unpinned_s > 0) off += fmt::format(" {}: {:.2f}", one.workers, one.unpinned_s);
  }
  sweep.notes.push_back(fmt::format("published ({}), by workers: pinned{}; unpinned{}", sweep.published, on, off));
}

}  // namespace loopscope
