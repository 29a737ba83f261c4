// NCCL's part is played here: the plugin itself is loaded and called as NCCL does, by both versions of its interface.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "probes/nccl/collectives.h"
#include "tests/cupti/fake_probe_api.h"

// The plugin finds it in the program, where the preloaded library has it.
extern "C" __attribute__((visibility("default"))) const loopscope::ProbeApi* loopscope_probe_api() {
  return loopscope::test::FakeProbeApi();
}

namespace loopscope::nccl {
namespace {

using test::Recorded;
using testing::IsEmpty, testing::SizeIs;

template <class Profiler>
const Profiler* Table(const char* name) {
  void* library = dlopen(NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  const auto* table = library ? static_cast<const Profiler*>(dlsym(library, name)) : nullptr;
  EXPECT_NE(table, nullptr);
  return table;
}

template <class Description>
Description Collective(const char* function, std::uint64_t sequence, int channels) {
  Description one{};
  one.type = kCollective;
  one.collective = {};
  one.collective.sequence = sequence;
  one.collective.function = function;
  one.collective.channels = static_cast<std::uint8_t>(channels);
  return one;
}

template <class Description>
Description Channel(void* parent, std::uint64_t timer_ns) {
  Description one{};
  one.type = kKernelChannel;
  one.parent = parent;
  one.kernel_channel = {0, timer_ns};
  return one;
}

template <class Profiler, class Description>
void RunOne(const Profiler& profiler, void* context, const char* function, std::uint64_t sequence,
            const std::vector<std::pair<std::uint64_t, std::uint64_t>>& channels) {
  void* collective = nullptr;
  auto event = Collective<Description>(function, sequence, static_cast<int>(channels.size()));
  profiler.start_event(context, &collective, &event);
  profiler.stop_event(collective);  // NCCL has enqueued it: nothing has run yet
  std::vector<void*> handles;
  for (const auto& [start_ns, end_ns] : channels) {
    auto channel = Channel<Description>(collective, start_ns);
    profiler.start_event(context, &handles.emplace_back(), &channel);
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    EventStateArguments arguments{channels[i].second};
    profiler.record_event_state(handles[i], EventState::kKernelChannelStop, &arguments);
    profiler.stop_event(handles[i]);
  }
}

class Plugin : public testing::Test {
 protected:
  void SetUp() override { Recorded::Instance().Clear(); }
};

TEST_F(Plugin, Version5TellsACollectiveFromItsFirstToItsLastChannel) {
  const auto* profiler = Table<Profiler5>("ncclProfiler_v5");
  ASSERT_NE(profiler, nullptr);
  int mask = 0;
  void* context = nullptr;
  profiler->init(&context, 7, &mask, "world", 1, 2, 0, nullptr);
  EXPECT_EQ(mask, kCollective | kKernelChannel);
  RunOne<Profiler5, EventDescription5>(*profiler, context, "AllReduce", 42, {{5000, 9000}, {5200, 9700}});
  ASSERT_THAT(Recorded::Instance().ranges, SizeIs(1));
  const wire::RangeRecord& range = Recorded::Instance().ranges[0];
  EXPECT_EQ(Recorded::Instance().Name(range.name), "nccl world:all_reduce");
  EXPECT_EQ(range.duration_ns, 4700u);
  EXPECT_EQ(range.value, 42u);
  EXPECT_GT(range.start_ns, 0u);
  EXPECT_EQ(static_cast<wire::RangeCategory>(range.head.sub), wire::RangeCategory::kCommunication);
  profiler->finalize(context);
}

TEST_F(Plugin, Version4ToldByItsOwnLayout) {
  const auto* profiler = Table<Profiler4>("ncclProfiler_v4");
  ASSERT_NE(profiler, nullptr);
  int mask = 0;
  void* context = nullptr;
  profiler->init(&context, &mask, nullptr, 7, 1, 2, 0, nullptr);
  RunOne<Profiler4, EventDescription4>(*profiler, context, "ReduceScatter", 3, {{100, 250}});
  ASSERT_THAT(Recorded::Instance().ranges, SizeIs(1));
  EXPECT_EQ(Recorded::Instance().Name(Recorded::Instance().ranges[0].name), "nccl 0x7:reduce_scatter");
  EXPECT_EQ(Recorded::Instance().ranges[0].duration_ns, 150u);
}

TEST_F(Plugin, EventsThatNobodyAskedForAreLeftAlone) {
  const auto* profiler = Table<Profiler5>("ncclProfiler_v5");
  ASSERT_NE(profiler, nullptr);
  int mask = 0;
  void* context = nullptr;
  profiler->init(&context, 7, &mask, nullptr, 1, 2, 0, nullptr);
  void* handle = &mask;
  EventDescription5 group{};
  group.type = kGroup;
  profiler->start_event(context, &handle, &group);
  EXPECT_EQ(handle, nullptr);
  EventStateArguments arguments{5};
  profiler->record_event_state(nullptr, EventState::kKernelChannelStop, &arguments);
  auto orphan = Channel<EventDescription5>(nullptr, 10);
  profiler->start_event(context, &handle, &orphan);
  profiler->stop_event(handle);
  EXPECT_THAT(Recorded::Instance().ranges, IsEmpty());
}

TEST(Collectives, CountsThoseThatNeverEnd) {
  Recorded::Instance().Clear();
  Collectives all(*test::FakeProbeApi());
  const auto event = Collective<EventDescription5>("AllReduce", 1, 2).collective;
  for (std::size_t i = 0; i < kInFlight + 3; ++i) all.StartCollective(event);
  EXPECT_EQ(all.lost(), 3u);
  EXPECT_THAT(Recorded::Instance().ranges, IsEmpty());
}

TEST(Collectives, ChannelsOfManyThreadsEndOnce) {
  Recorded::Instance().Clear();
  Collectives all(*test::FakeProbeApi());
  void* one = all.StartCollective(Collective<EventDescription5>("AllGather", 1, 16).collective);
  std::vector<std::thread> threads;
  std::vector<void*> channels;
  for (std::uint64_t i = 0; i < 16; ++i) channels.push_back(all.StartChannel(one, 100 + i));
  for (std::uint64_t i = 0; i < 16; ++i) threads.emplace_back([&, i] { all.EndChannel(channels[i], 1000 + i); });
  for (std::thread& thread : threads) thread.join();
  ASSERT_THAT(Recorded::Instance().ranges, SizeIs(1));
  EXPECT_EQ(Recorded::Instance().ranges[0].duration_ns, 915u);
}

}  // namespace
}  // namespace loopscope::nccl
