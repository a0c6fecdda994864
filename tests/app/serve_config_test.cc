#include "app/serve_config.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("a configuration sets what it names and leaves the rest") {
  ServeConfig config;
  const std::string usual_admin = config.server.admin_address;
  REQUIRE(ApplyConfig(R"({"data":"d","grpc":"127.0.0.1:9","default_deadline_ms":1500,"served_sample_rate":0.5,
                          "cors_origins":["http://a"],"checkpoint_interval_s":60,"checkpoint_changes":5000,"model_memory_limit_mb":2})",
                      &config)
              .ok());
  CHECK(config.data == "d");
  CHECK(config.server.grpc_address == "127.0.0.1:9");
  CHECK(config.server.admin_address == usual_admin);
  CHECK(config.server.default_deadline == absl::Milliseconds(1500));
  CHECK(config.engine.served_sample_rate == 0.5);
  CHECK(config.server.cors_origins == std::vector<std::string>{"http://a"});
  CHECK(config.engine.checkpoint.interval == absl::Minutes(1));
  CHECK(config.engine.checkpoint.changes == 5000);
  CHECK(config.engine.model_memory_limit_bytes == 2097152);
}

TEST_CASE("what a configuration gets wrong is named") {
  auto problem = [](const std::string& json) {
    ServeConfig config;
    return std::string(ApplyConfig(json, &config).message());
  };
  CHECK_THAT(problem(R"({"grcp":"x"})"),
             Catch::Contains("unknown key 'grcp'") && Catch::Contains("admin, admin_http"));
  CHECK_THAT(problem(R"({"grpc":7700})"), Catch::Contains("'grpc' takes text, not 7700"));
  CHECK_THAT(problem(R"({"worker_threads":-1})"),
             Catch::Contains("'worker_threads' takes a whole number from 0 to 1024, not -1"));
  CHECK_THAT(problem(R"({"worker_threads":18446744073709551615})"), Catch::Contains("'worker_threads'"));
  CHECK_THAT(problem(R"({"served_sample_rate":1.5})"), Catch::Contains("from 0 to 1"));
  CHECK_THAT(problem(R"({"insecure":"yes"})"), Catch::Contains("true or false"));
  CHECK_THAT(problem("[]"), Catch::Contains("not a JSON object"));
  CHECK_THAT(problem("{"), Catch::Contains("not a JSON object"));
}

}  // namespace
}  // namespace waymark
