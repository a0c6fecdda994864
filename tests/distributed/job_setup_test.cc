#include "training/distributed/job_setup.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

storage::ExamplesIndex IndexOf(int files) {
  storage::ExamplesIndex index;
  for (int f = 0; f < files; ++f) index.add_files()->set_sha256(std::to_string(f));
  (*index.mutable_options())["network.width"] = 48;
  (*index.mutable_options())["network.heads"] = 2;
  (*index.mutable_options())["learning_rate"] = 2e-3;
  index.set_held_out(1);
  return index;
}

TEST_CASE("What the command line says counts over what suits the shards") {
  JobOverrides given;
  auto options = OptionsOfJob(IndexOf(4), given);
  REQUIRE(options.ok());
  CHECK(options->shape.width == 48);
  CHECK(options->learning_rate == 2e-3);
  given.width = 32;
  given.batch_tokens = 4096;
  given.scaling = RateScaling::kLinear;
  options = OptionsOfJob(IndexOf(4), given);
  REQUIRE(options.ok());
  CHECK(options->shape.width == 32);
  CHECK(options->shape.hidden == 64);
  CHECK(options->learning_rate == Approx(8e-3));
  given.scaling = RateScaling::kSquareRoot;
  CHECK(OptionsOfJob(IndexOf(4), given)->learning_rate == Approx(4e-3));
  given.dropout = 1.5;
  CHECK_THAT(std::string(OptionsOfJob(IndexOf(4), given).status().message()), Contains("'dropout'"));
}

TEST_CASE("A batch has a part for every rank, and a file for every part") {
  CHECK(*PartsOfJob(IndexOf(8), 0, 1) == 4);
  CHECK(*PartsOfJob(IndexOf(8), 0, 6) == 6);
  CHECK(*PartsOfJob(IndexOf(8), 8, 2) == 8);
  CHECK_THAT(std::string(PartsOfJob(IndexOf(8), 2, 4).status().message()),
             Contains("--parts is 2") && Contains("4 ranks"));
  CHECK_THAT(std::string(PartsOfJob(IndexOf(3), 0, 2).status().message()),
             Contains("3 files") && Contains("--files 4") && Contains("--parts 3"));
}

TEST_CASE("A checkpoint pins which items have a row only where not all have one") {
  JobOverrides given;
  CHECK(VocabularySetting(*VocabularyOfJob(given, 1000), 100).empty());
  given.admit_after = 1;
  given.max_rows = 100;
  CHECK(VocabularySetting(*VocabularyOfJob(given, 1000), 100).empty());
  CHECK(VocabularySetting(*VocabularyOfJob(given, 1000), 101) ==
        "\nadmit-after 1\nmax-rows 100\nevict frequent");
  given.evict = EvictionRule::kLeastRecent;
  given.admit_after = 4;
  CHECK(VocabularySetting(*VocabularyOfJob(given, 1000), 101) ==
        "\nadmit-after 4\nmax-rows 100\nevict recent");
  // The table is never full: who would leave it does not matter.
  CHECK(VocabularySetting(*VocabularyOfJob(given, 1000), 50) ==
        "\nadmit-after 4\nmax-rows 50\nevict nothing");
  const auto refusal = [&] { return std::string(VocabularyOfJob(given, 1000).status().message()); };
  given.max_rows.reset();
  CHECK_THAT(refusal(), Contains("--evict says") && Contains("give --max-rows"));
  given.evict.reset();
  given.admit_after = 0;
  CHECK_THAT(refusal(), Contains("--admit-after is 0; it takes 1 or more"));
  given.admit_after.reset();
  given.max_rows = -3;
  CHECK_THAT(refusal(), Contains("--max-rows is -3"));
  given.max_rows = 5;
  CHECK_THAT(std::string(VocabularyOfJob(given, int64_t{1} << 30).status().message()),
             Contains("at most 1073741823 items"));
}

TEST_CASE("Ranks that are set up otherwise are named with what differs") {
  const JobOptions job;
  const auto index = IndexOf(4);
  const auto options = *OptionsOfJob(index, {});
  RetrieverOptions others = options;
  others.dropout = 0.25;
  const std::string own = SettingsText(index, options, job, 4), other = SettingsText(index, others, job, 4);
  CHECK(CheckSameSettings({own, own, own}).ok());
  const absl::Status differ = CheckSameSettings({own, own, other});
  CHECK(absl::IsFailedPrecondition(differ));
  CHECK_THAT(std::string(differ.message()),
             Contains("rank 0 has «dropout 0.4»") && Contains("rank 2 «dropout 0.25»"));
  const absl::Status failed = CheckSameSettings({own, "error: no such folder", other});
  CHECK(std::string(failed.message()) == "rank 1: no such folder");
  const std::string shards = SettingsText(IndexOf(5), options, job, 4);
  CHECK_THAT(std::string(CheckSameSettings({own, shards}).message()), Contains("«shards "));
  JobOptions older = job, newer = job;
  older.program_version = "0.1.0";
  newer.program_version = "0.2.0";
  CHECK_THAT(
      std::string(
          CheckSameSettings({ProgramText(older) + "\n" + own, ProgramText(newer) + "\n" + other}).message()),
      Contains("rank 0 has «program version 0.1.0», rank 1 «program version 0.2.0»"));
}

}  // namespace
}  // namespace waymark
