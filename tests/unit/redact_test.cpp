#include "profiler/core/redact.h"

#include <gtest/gtest.h>

namespace loopscope {
namespace {

TEST(Redact, NamesThatHoldSecrets) {
  for (const char* name : {"--password", "--api-key", "API_KEY", "--apiToken", "WANDB_API_KEY", "TORCH_HUB_PAT",
                           "OMP_PASSPHRASE", "NCCL_BEARER", "--auth", "AWS_SECRET_ACCESS_KEY", "db_passwd", "sig"}) {
    EXPECT_TRUE(SoundsSecret(name)) << name;
  }
  for (const char* name : {"--max-tokens", "TOKENIZERS_PARALLELISM", "--keyframes", "--author", "--path", "--patience",
                           "--key-file", "OMP_NUM_THREADS", "--lr", "", "-"}) {
    EXPECT_FALSE(SoundsSecret(name)) << name;
  }
}

TEST(Redact, ArgumentsOfACommand) {
  const std::vector<std::string> command = {"python",
                                            "train.py",
                                            "--password",
                                            "hunter2",
                                            "--api-key=abc",
                                            "--token",
                                            "t0ken",
                                            "--lr",
                                            "0.1",
                                            "WANDB_API_KEY=x",
                                            "--auth=Bearer abcd",
                                            "--key-dim",
                                            "64",
                                            "--verbose",
                                            "--max-tokens=512",
                                            "--pass",
                                            "--other",
                                            "--data=s3://b/?sig=abcdef&page=2",
                                            "--password",
                                            "1234"};
  const std::vector<std::string> expected = {"python",
                                             "train.py",
                                             "--password",
                                             "***",
                                             "--api-key=***",
                                             "--token",
                                             "***",
                                             "--lr",
                                             "0.1",
                                             "WANDB_API_KEY=***",
                                             "--auth=***",
                                             "--key-dim",
                                             "64",
                                             "--verbose",
                                             "--max-tokens=512",
                                             "--pass",
                                             "--other",
                                             "--data=s3://b/?sig=***&page=2",
                                             "--password",
                                             "***"};
  EXPECT_EQ(Redacted(command), expected);
}

TEST(Redact, ValuesThatAreSecretsByThemselves) {
  const auto redacted = [](std::string_view text) { return Redacted(text); };
  EXPECT_EQ(redacted("postgres://user:pw@host/db"), "postgres://***@host/db");
  EXPECT_EQ(redacted("http://proxy:8080/x@y"), "http://proxy:8080/x@y");
  EXPECT_EQ(redacted("https://h/f?X-Amz-Signature=0a1b2c3d&part=7#end"), "https://h/f?X-Amz-Signature=***&part=7#end");
  EXPECT_EQ(redacted("Authorization: Bearer abc.def"), "Authorization: Bearer ***");
  EXPECT_EQ(redacted("hf_abcdefghijkl"), "hf_***");
  EXPECT_EQ(redacted("AKIAABCDEFGHIJKL"), "AKIA***");
  EXPECT_EQ(redacted("eyJhbGciOiJI.eyJzdWIi.sig"), "***");
  EXPECT_EQ(redacted("/data/sk/train.py --lr 0.1"), "/data/sk/train.py --lr 0.1");
}

TEST(Redact, LongTextsAreCut) {
  EXPECT_LT(Redacted(std::string_view(std::string(1 << 20, 'a'))).size(), 1u << 15);
}

}  // namespace
}  // namespace loopscope
