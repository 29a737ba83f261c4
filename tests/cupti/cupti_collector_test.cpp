// The collector on a stand-in for CUPTI: the body of a test runs in a child, which says what it saw in one text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "probes/cupti/collector.h"
#include "tests/cupti/fake_probe_api.h"
#include "tests/cupti/in_a_process.h"

namespace loopscope {
namespace {

using test::FakeProbeApi, test::Recorded, test::StandIn;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto kLongerThanAFlushPeriod = std::chrono::milliseconds(1500);

std::string InAProcess(std::string (*body)(StandIn& stand_in, const Cupti& cupti)) {
  return test::InAProcess([body]() -> std::string {
    Cupti cupti;
    const char* const why = LoadCupti(cupti);
    StandIn* const stand_in = test::StandInOf(13);
    if (stand_in == nullptr) return "the stand-in is not in CUPTI's place";
    return why != nullptr ? why : body(*stand_in, cupti);
  });
}

std::string FactsText() {
  std::string text;
  for (const auto& [key, value] : Recorded::Instance().facts) text += key + "=" + value + "\n";
  for (const std::string& mark : Recorded::Instance().marks) text += "mark: " + mark + "\n";
  return text;
}

std::string Started(const Cupti& cupti) {
  const char* const why = StartCollector(cupti, FakeProbeApi());
  return why == nullptr ? "on\n" : "off: " + std::string(why) + "\n";
}

TEST(CuptiCollector, SetsTheClockFirstAndEnablesWhatIsReadOnly) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    const std::string started = Started(cupti);
    FinishCollector();
    return started + stand_in.log;
  });
  const auto line = [](const char* what, unsigned number) { return what + std::to_string(number) + "\n"; };
  EXPECT_THAT(seen, StartsWith("on\nclock\ncallbacks\n"));
  EXPECT_THAT(seen, HasSubstr(line("attribute ", CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)));
  EXPECT_THAT(seen, HasSubstr(line("thread ids ", CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)));
  for (const unsigned kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_DEVICE,
        CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_GRAPH_TRACE}) {
    EXPECT_THAT(seen, HasSubstr(line("enable ", kind)));
  }
  // KERNEL would make kernels run one after the other; a whole API would record every call.
  for (const unsigned kind : {CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER}) {
    EXPECT_THAT(seen, Not(HasSubstr(line("enable ", kind))));
  }
  EXPECT_THAT(seen, HasSubstr("all synchronisations 0\nruntime 1\nruntime 3\nruntime 4\ndriver 1\n"));
  EXPECT_THAT(seen, Not(HasSubstr("runtime 2\n"))) << "cudaGetDevice tells nothing";
  EXPECT_THAT(seen, Not(HasSubstr("not zero")));
}

TEST(CuptiCollector, AsksEverySecondAndForcesTheLastOut) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.dropped = 3;
    const std::string started = Started(cupti);
    std::this_thread::sleep_for(kLongerThanAFlushPeriod);
    FinishCollector();
    FinishCollector();
    return started + stand_in.log + std::to_string(Recorded::Instance().work.size()) + " kernels\n" + FactsText();
  });
  EXPECT_THAT(seen, HasSubstr("flush 0\n"));
  EXPECT_THAT(seen, HasSubstr("flush 1\n2 kernels\n")) << "the last flush is one";
  EXPECT_THAT(seen, HasSubstr("cupti.records=2\n"));
  EXPECT_THAT(seen, HasSubstr("cupti.dropped=6\n"));
  EXPECT_THAT(seen, Not(HasSubstr("mark:")));
}

TEST(CuptiCollector, AForkedChildLeavesItAlone) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    std::string text = Started(cupti);
    stand_in.log[0] = '\0';
    const pid_t child = fork();
    if (child == 0) {
      FinishCollector();
      std::uint8_t* buffer = nullptr;
      std::size_t size = 0, records = 0;
      stand_in.request(&buffer, &size, &records);
      stand_in.completed(nullptr, 0, buffer, size, size);
      _exit(stand_in.log[0] == '\0' && Recorded::Instance().work.empty() && Recorded::Instance().facts.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    text += "child " + std::to_string(status) + "\n";
    FinishCollector();
    return text + stand_in.log + FactsText();
  });
  EXPECT_THAT(seen, StartsWith("on\nchild 0\nflush 1\n"));
  EXPECT_THAT(seen, HasSubstr("cupti.records=1\n"));
}

TEST(CuptiCollector, WithoutADriverItStaysOff) {
  EXPECT_EQ(InAProcess([](StandIn& stand_in, const Cupti& cupti) {
              stand_in.enable_result = CUPTI_ERROR_UNKNOWN;
              const std::string started = Started(cupti);
              std::this_thread::sleep_for(kLongerThanAFlushPeriod);
              FinishCollector();
              return started + (std::string(stand_in.log).find("flush") == std::string::npos ? "" : "it flushed") +
                     FactsText();
            }),
            "off: result 999\n");
}

TEST(CuptiCollector, NothingStaysOnWhenAKindIsRefused) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.enable_result = CUPTI_ERROR_UNKNOWN;
    stand_in.refused = CUPTI_ACTIVITY_KIND_MEMCPY;
    return Started(cupti) + stand_in.log;
  });
  EXPECT_THAT(seen, StartsWith("off: result 999\n"));
  for (const unsigned kind :
       {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}) {
    EXPECT_THAT(seen, HasSubstr("disable " + std::to_string(kind) + "\n"));
  }
}

TEST(CuptiCollector, AnotherClientHasTheCallbacks) {
  EXPECT_THAT(InAProcess([](StandIn& stand_in, const Cupti& cupti) {
                stand_in.register_result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
                return Started(cupti) + stand_in.log;
              }),
              AllOf(StartsWith("off: result " + std::to_string(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) +
                               " (another profiling tool is using it: run without that tool)\nclock\ncallbacks\n"),
                    Not(HasSubstr("enable "))));
}

TEST(CuptiCollector, AnOldDriverASliceAndMissingRightsAreSaid) {
  const auto off = [](std::string (*body)(StandIn& stand_in, const Cupti& cupti)) { return InAProcess(body); };
  EXPECT_THAT(off([](StandIn& stand_in, const Cupti& cupti) {
                stand_in.enable_result = CUPTI_ERROR_NOT_COMPATIBLE;
                return Started(cupti);
              }),
              HasSubstr("the driver may be older than this CUPTI: update it"));
  EXPECT_THAT(off([](StandIn& stand_in, const Cupti& cupti) {
                stand_in.enable_result = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
                return Started(cupti);
              }),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(off([](StandIn& stand_in, const Cupti& cupti) {
                stand_in.enable_result = static_cast<CUptiResult>(43);
                return Started(cupti);
              }),
              HasSubstr("run on a whole one"));
}

TEST(CuptiCollector, ADeviceThatHangsDoesNotHoldTheEndUp) {
  const auto begun = std::chrono::steady_clock::now();
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.hang_in_last_flush = true;
    const std::string started = Started(cupti);
    FinishCollector();
    return started + FactsText();
  });
  EXPECT_THAT(seen, ContainsRegex("mark: the GPU's last records are missing"));
  EXPECT_THAT(seen, HasSubstr("cupti.records=0\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60)) << "it waits for seconds, not for ever";
}

TEST(CuptiCollector, NeverFlushesBeforeCuptiHasABuffer) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.starts_late = true;
    const std::string started = Started(cupti);
    std::this_thread::sleep_for(kLongerThanAFlushPeriod);
    FinishCollector();
    return started + stand_in.log + FactsText();
  });
  EXPECT_THAT(seen, Not(HasSubstr("flush"))) << "the driver may still be starting";
  EXPECT_THAT(seen, HasSubstr("cupti.records=0\n"));
}

TEST(CuptiCollector, HoldsNoLockWhileItAsksWhatWasDropped) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.dropped = 1;
    const std::string started = Started(cupti);
    const auto complete = [&](bool locked) {
      for (int i = 0; i < 1000; ++i) stand_in.complete(locked);
    };
    std::thread other(complete, true);
    complete(false);
    other.join();
    FinishCollector();
    return started + FactsText();
  });
  EXPECT_THAT(seen, HasSubstr("cupti.dropped=2001\n"));
  EXPECT_THAT(seen, Not(HasSubstr("ended with"))) << "two threads wait for each other";
}

TEST(CuptiCollector, AClockThatCannotBeSetIsTranslated) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.clock_result = CUPTI_ERROR_NOT_SUPPORTED;
    const std::string started = Started(cupti);
    FinishCollector();
    const auto error_ns =
        static_cast<std::int64_t>(Recorded::Instance().work.at(0).start_ns - (test::kKernelStart - test::kClockAhead));
    return started + std::to_string(std::abs(error_ns) / 1'000'000) + " ms\n";
  });
  EXPECT_EQ(seen, "on\n0 ms\n");
}

TEST(CuptiCollector, ThreadsThatCannotBeToldAreSaid) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.thread_ids_result = CUPTI_ERROR_UNKNOWN;
    const std::string started = Started(cupti);
    return started + FactsText();
  });
  EXPECT_THAT(seen, HasSubstr("on\nmark: CUPTI does not tell the threads of calls"));
}

TEST(CuptiCollector, TakesAllCallsWhereTheyCannotBeChosen) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    stand_in.call_result = CUPTI_ERROR_NOT_SUPPORTED;
    return Started(cupti) + stand_in.log;
  });
  EXPECT_THAT(seen, HasSubstr("enable " + std::to_string(CUPTI_ACTIVITY_KIND_RUNTIME) + "\n"));
  EXPECT_THAT(seen, HasSubstr("enable " + std::to_string(CUPTI_ACTIVITY_KIND_DRIVER) + "\n"));
}

TEST(CuptiCollector, TakesAllCallsWhenAskedTo) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    setenv("LOOPSCOPE_CUPTI_ALL", "1", 1);
    return Started(cupti) + stand_in.log;
  });
  EXPECT_THAT(seen, HasSubstr("enable " + std::to_string(CUPTI_ACTIVITY_KIND_RUNTIME) + "\n"));
  EXPECT_THAT(seen, Not(HasSubstr("runtime 1\n")));
}

TEST(CuptiCollector, MakesRoomForAnotherClient) {
  const std::string seen = InAProcess([](StandIn& stand_in, const Cupti& cupti) {
    const std::string started = Started(cupti);
    stand_in.log[0] = '\0';
    LeaveCuptiTo("torch.profiler");
    std::string text = started + stand_in.log + FactsText();
    stand_in.log[0] = '\0';
    std::this_thread::sleep_for(kLongerThanAFlushPeriod);
    LeaveCuptiTo("torch.profiler");
    FinishCollector();
    return text + "later: " + stand_in.log;
  });
  EXPECT_THAT(seen, HasSubstr("disable " + std::to_string(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) + "\n"));
  EXPECT_THAT(seen, HasSubstr("runtime 1 off\n"));
  EXPECT_THAT(seen, ContainsRegex("flush 1\n.*cupti.records=1\n"));
  EXPECT_THAT(seen,
              HasSubstr("mark: what the GPU does is not recorded from here on: torch.profiler uses CUPTI\nlater: "));
  EXPECT_TRUE(seen.ends_with("later: ")) << "it has nothing more to do with CUPTI";
}

}  // namespace
}  // namespace loopscope
