// The collector on a stand-in for CUPTI. A collector lives once per process, so each test has one of its own: the body
// runs in a child, which says what it saw in one text.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "probes/cupti/collector.h"
#include "tests/cupti/fake_probe_api.h"
#include "tests/cupti/stand_in.h"

namespace loopscope {
namespace {

using test::FakeProbeApi, test::Recorded, test::StandIn;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto kLongerThanAFlushPeriod = std::chrono::milliseconds(1500);

// What `body` returned in a process of its own; says so when that did not end well.
std::string InAProcess(std::string (*body)(StandIn& stand_in, const Cupti& cupti)) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    Cupti cupti;
    const char* const why = LoadCupti(cupti);
    auto* const find = reinterpret_cast<StandIn* (*)()>(dlsym(dlopen("libcupti.so.13", RTLD_NOW), "stand_in_cupti"));
    const std::string text = find == nullptr  ? "the stand-in is not in CUPTI's place"
                             : why != nullptr ? std::string(why)
                                              : body(*find(), cupti);
    const auto written = write(pipe_ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(pipe_ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : text + "\nended with " + std::to_string(status);
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
  EXPECT_THAT(seen, HasSubstr("flush 0\nflush 1\n2 kernels\n")) << "the last flush is one";
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

TEST(CuptiCollector, AnotherClientHasTheCallbacks) {
  EXPECT_EQ(InAProcess([](StandIn& stand_in, const Cupti& cupti) {
              stand_in.register_result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
              return Started(cupti) + stand_in.log;
            }),
            "off: result " + std::to_string(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) +
                " (another profiling tool is using it: run without that tool)\nclock\ncallbacks\n");
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
                stand_in.enable_result = CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED;
                return Started(cupti);
              }),
              HasSubstr("run on a whole one"));
}

TEST(CuptiCollector, AnotherMajorVersionIsNotRead) {
  EXPECT_EQ(InAProcess([](StandIn& stand_in, const Cupti&) {
              stand_in.version = 120'000;
              Cupti again;
              const char* const why = LoadCupti(again);
              return std::string(why != nullptr ? why : "");
            }),
            "the program's CUPTI is version 12, this probe was built for 13");
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

}  // namespace
}  // namespace loopscope
