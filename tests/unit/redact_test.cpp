#include <gtest/gtest.h>

#include "profiler/core/printable.h"

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

// Each as one word of a command, a variable's value and a line of a message.
TEST(Redact, WhateverWritesAKeyAndItsValue) {
  for (const char* text : {"{\"password\": \"s3cret\"}",
                           "{\\\"password\\\": \\\"s3cret\\\"}",
                           "--config={\"api_key\":\"s3cret\"}",
                           "{'token': 's3cret', 'lr': 1}",
                           "{\"tokens\": 3, \"db\": {\"passwd\": \"a s3cret\"}}",
                           "password: s3cret",
                           "X-Api-Key: s3cret",
                           "Authorization: token s3cret",
                           "Authorization: Basic s3cret==",
                           "Cookie: session=s3cret; a=b",
                           "Set-Cookie: a=1; b=s3cret",
                           "Proxy-Authorization: s3cret",
                           "--passwd:s3cret",
                           "HF_TOKEN=s3cret python train.py",
                           "env WANDB_API_KEY='s3cret' python t.py",
                           "python t.py --password s3cret --lr 1",
                           "python t.py --api-key -s3cret",
                           "postgres://user:p/s3cret@host/db",
                           "postgres://user:p@s3cret@host/db",
                           "redis://:s3cret@host:6379/0",
                           "https://s3cret@host/path",
                           "https://h/cb#access_token=s3cret&state=1",
                           "https://h/cb#id=1&refresh_token=s3cret",
                           "https://hooks.slack.com/services/T0/B0/s3cret",
                           "https://discord.com/api/webhooks/1/s3cret",
                           "https://x.webhook.office.com/webhookb2/s3cret",
                           "https://api.telegram.org/bot123456:AAs3cret_aaaa/send",
                           "Server=h;Uid=u;Pwd=s3cret;",
                           "AccountKey=s3cret;EndpointSuffix=x",
                           "SharedAccessSignature sig=s3cret&se=1",
                           "secrets: [s3cret, s3cret]",
                           "card_pin=s3cret",
                           "DB_LOGIN=s3cret",
                           "passphrase = \"s3cret\"",
                           "\"client_secret\" : \"s3cret\"",
                           "machine h login u password: s3cret"}) {
    EXPECT_EQ(Redacted(std::string_view(text)).find("s3cret"), std::string::npos) << Redacted(std::string_view(text));
  }
}

TEST(Redact, PairsOfWords) {
  const auto last = [](const char* option, const char* value) { return Redacted({"p", option, value}).back(); };
  EXPECT_EQ(last("--password", "-s3cret"), "***");
  EXPECT_EQ(last("-u", "name:s3cret"), "name:***");
  EXPECT_EQ(last("--pin", "1234"), "***");
  EXPECT_EQ(last("-u", "name"), "name");
}

TEST(Redact, WhatIsNoSecretStays) {
  for (const char* text :
       {"{\"lr\": 0.1, \"max_tokens\": 512}", "--pin-memory true", "--pin_memory=true", "http://localhost:8080/a@b",
        "https://host:443/x", "std::vector<int>: error", "a == b", "loss: 0.25, step: 7", "--key-dim=64", "C:/data/x",
        "at train.py:41: key 'x'", "--opt foo --name bar", "https://github.com/a/b.git", "time 12:30:45"}) {
    EXPECT_EQ(Redacted(std::string_view(text)), text);
  }
}

TEST(Redact, LinesOfSource) {
  EXPECT_EQ(RedactedSource("token = next_token(x)"), "token = next_token(x)");
  EXPECT_EQ(RedactedSource("api_key = \"s3cret\"  # mine"), "api_key = \"***\"  # mine");
  EXPECT_EQ(RedactedSource("wandb.login(key='s3cret')"), "wandb.login(key='***')");
  EXPECT_EQ(RedactedSource("connect('postgres://u:s3cret@h/db')"), "connect('postgres://***@h/db')");
}

TEST(Redact, LongTextsAreCut) {
  EXPECT_LT(Redacted(std::string_view(std::string(1 << 20, 'a'))).size(), 1u << 15);
}

}  // namespace
}  // namespace loopscope
