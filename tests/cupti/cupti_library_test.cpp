// Which CUPTI is taken, with stand-ins for those of CUDA 12 and 13 on the loader's path.
#include "probes/cupti/cupti_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "probes/cupti/collector.h"
#include "tests/cupti/fake_probe_api.h"
#include "tests/cupti/in_a_process.h"

namespace loopscope {
namespace {

using test::InAProcess, test::StandIn, test::StandInOf;
using testing::AllOf, testing::HasSubstr, testing::Not;

std::string Taken() {
  Cupti cupti;
  const char* const why = LoadCupti(cupti);
  return why != nullptr ? why : std::to_string(cupti.version);
}

TEST(CuptiLibrary, TheNewestWhereNothingIsLoaded) {
  EXPECT_EQ(InAProcess(Taken), "130001");
}

TEST(CuptiLibrary, TheOneThatTheProgramHasLoaded) {
  EXPECT_EQ(InAProcess([]() -> std::string {
              return dlopen("libcupti.so.12", RTLD_NOW | RTLD_LOCAL) != nullptr ? Taken() : dlerror();
            }),
            "22");
}

TEST(CuptiLibrary, TheOneThatFitsTheLoadedRuntime) {
  EXPECT_EQ(InAProcess([]() -> std::string {
              return dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL) != nullptr ? Taken() : dlerror();
            }),
            "22")
      << "the machine has a newer one";
}

TEST(CuptiLibrary, NotTheOneThatAnotherToolHasLoaded) {
  EXPECT_EQ(InAProcess([]() -> std::string {
              dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
              return dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL) != nullptr ? Taken() : dlerror();
            }),
            "22");
}

std::string TakenOfVersion(std::uint32_t version) {
  return InAProcess([version]() -> std::string {
    StandIn* const stand_in = StandInOf(13);
    if (stand_in == nullptr) return "no stand-in";
    stand_in->version = version;
    return Taken();
  });
}

TEST(CuptiLibrary, VersionsThatAreRead) {
  for (const std::uint32_t version : {22u, 24u, 28u, 130'000u, 130'500u}) {
    EXPECT_EQ(TakenOfVersion(version), std::to_string(version));
  }
}

TEST(CuptiLibrary, VersionsThatAreNot) {
  for (const std::uint32_t version : {18u, 21u, 29u, 120'000u}) {
    EXPECT_THAT(TakenOfVersion(version), HasSubstr("CUPTI has version " + std::to_string(version) +
                                                   " of its interface, and this probe reads 22 to 28"));
  }
}

TEST(CuptiLibrary, TheOldestLacksSomeAndRecordsWholeInterfaces) {
  const std::string seen = InAProcess([]() -> std::string {
    StandIn* const stand_in = StandInOf(12);
    Cupti cupti;
    if (const char* why = LoadCupti(cupti)) return why;
    const char* const off = StartCollector(cupti, test::FakeProbeApi());
    FinishCollector();
    return off != nullptr ? off : std::string("on\n") + stand_in->log;
  });
  EXPECT_THAT(seen, AllOf(HasSubstr("on\n"), HasSubstr("flush 1\n"), Not(HasSubstr("all synchronisations"))));
  for (const unsigned kind : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER}) {
    EXPECT_THAT(seen, HasSubstr("enable " + std::to_string(kind) + "\n"));
  }
}

}  // namespace
}  // namespace loopscope
