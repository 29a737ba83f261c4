#include "profiler/launch/turn_taking.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "probes/environment.h"
#include "profiler/core/statistics/shuffle.h"
#include "profiler/system/process_tree.h"

namespace loopscope {
namespace {

constexpr int kLookAgainMs = 1000;

// Twice, since a process may be created during the first pass.
void Stop(TurnTaker& taker) {
  for (int look = 0; look < 2; ++look) {
    taker.stopped = Descendants(taker.keeper);
    for (const pid_t pid : taker.stopped) kill(pid, SIGSTOP);
  }
}

// The thread at the end of its step continues when it reads this byte, the others on SIGCONT.
void GoOn(TurnTaker& taker) {
  taker.waits = false;
  if (write(taker.begin, "", 1) < 0) return;
  for (const pid_t pid : taker.stopped) kill(pid, SIGCONT);
}

class Table {
 public:
  Table(std::span<TurnTaker> takers, Signals& signals) : takers_(takers), signals_(signals) {}

  // Waits until this one's turn is over, or it has ended.
  void Await(const TurnTaker& taker) {
    while (!taker.ended && !taker.waits) Listen();
  }

  void AwaitEnds() {
    while (!std::ranges::all_of(takers_, &TurnTaker::ended)) Listen();
  }

 private:
  void Listen() {
    std::vector<pollfd> polled{{signals_.fd(), POLLIN, 0}};
    for (const TurnTaker& taker : takers_) {
      polled.push_back({taker.ended || taker.waits ? -1 : taker.over, POLLIN, 0});
      polled.push_back({taker.ended ? -1 : taker.result, POLLIN, 0});
    }
    poll(polled.data(), polled.size(), kLookAgainMs);
    for (std::size_t i = 0; i < takers_.size(); ++i) {
      if (polled[1 + 2 * i].revents & POLLIN) TurnOver(takers_[i]);
      if (polled[2 + 2 * i].revents & (POLLIN | POLLHUP | POLLERR)) ReadResult(takers_[i]);
    }
    if (polled[0].revents & POLLIN) TakeSignals();
  }

  void TurnOver(TurnTaker& taker) {
    char byte = 0;
    if (read(taker.over, &byte, 1) != 1) return;
    taker.waits = true;
    taker.warms_up = byte == static_cast<char>(env::TurnOver::kBeforeWarmup);
    if (!taker.warms_up) ++taker.turns;
    Stop(taker);
  }

  static void ReadResult(TurnTaker& taker) {
    char text[4096];
    const ssize_t got = read(taker.result, text, sizeof text);
    if (got > 0) taker.written.append(text, static_cast<std::size_t>(got));
    if (got <= 0) taker.ended = true;
  }

  void TakeSignals() {
    signalfd_siginfo info;
    while (read(signals_.fd(), &info, sizeof info) == sizeof info) {
      if (!signals_.Ends(info)) continue;
      signals_.Interrupt();
      for (const TurnTaker& taker : takers_) {
        if (!taker.ended) kill(taker.keeper, SIGTERM);
      }
    }
  }

  std::span<TurnTaker> takers_;
  Signals& signals_;
};

}  // namespace

void TakeTurns(std::span<TurnTaker> takers, int rounds, std::uint64_t seed, Signals& signals) {
  Table table(takers, signals);
  for (const TurnTaker& taker : takers) table.Await(taker);
  for (TurnTaker& taker : takers) {
    if (taker.ended || !taker.warms_up) continue;
    GoOn(taker);
    table.Await(taker);
  }
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(takers.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < rounds; ++round) {
    Shuffle(order, random);
    for (const std::size_t next : order) {
      if (takers[next].ended) continue;
      GoOn(takers[next]);
      table.Await(takers[next]);
    }
  }
  for (TurnTaker& taker : takers) {
    if (!taker.ended) GoOn(taker);
  }
  table.AwaitEnds();
}

}  // namespace loopscope
