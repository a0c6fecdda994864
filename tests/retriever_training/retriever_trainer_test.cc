#include "training/retriever/retriever_trainer.h"

#include <cmath>
#include <fstream>

#include "recommend/retriever.h"
#include "tests/retriever_training/training_fixture.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

std::string WeightsHash(const ModelPackage& package) {
  return *Sha256HexOfFile(package.folder / "weights.safetensors");
}

TEST_CASE("A chain that can be learned is learned, far above what popularity could reach") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(400, 12, 60, 2, 5);
  const MemoryDirectory items = PlainItems(60);
  RetrieverOptions options = SmallOptions();
  options.epochs = 12;
  const auto result = TrainRetriever(events, items, options, RunInto(scratch / "p"));
  REQUIRE(result.ok());
  // Two equally likely successors of 60 equally popular items: at best (1 + 1 / log2 3) / 2 = .815;
  // popularity is a guess, 10 of 60 at a mean gain of .454: .076.
  CHECK(result->validation_ndcg10 > 0.7);
  CHECK(result->validation_ndcg10 < 0.9);
  CHECK(result->epoch_losses.back() < result->epoch_losses.front() / 2);
  CHECK(result->package.manifest.kind() == "retriever");
  CHECK(result->package.manifest.data().events() == 400 * 11);
  CHECK(result->package.manifest.data().items() == 60);
  CHECK(result->package.manifest.create_time() == "2023-11-14T22:13:20+00:00");

  // What is served ranks the two successors first.
  const auto retriever = Retriever::Load(result->package, &items);
  REQUIRE(retriever.ok());
  std::vector<ItemOrdinal> all(60);
  for (ItemOrdinal i = 0; i < 60; ++i) all[i] = i;
  std::vector<float> vectors(60 * 32), user(32);
  REQUIRE((*retriever)->EmbedItems(all, absl::MakeSpan(vectors)).ok());
  int found = 0;
  for (ItemOrdinal last = 0; last < 60; ++last) {
    std::vector<HistoryEvent> history(1);
    history[0].item = last;
    REQUIRE((*retriever)->EncodeUser(history, absl::UnixEpoch(), absl::MakeSpan(user)).ok());
    std::vector<std::pair<float, ItemOrdinal>> scored;
    for (ItemOrdinal i = 0; i < 60; ++i) {
      float score = 0;
      for (int c = 0; c < 32; ++c) score += user[c] * vectors[i * 32 + c];
      scored.push_back({-score, i});
    }
    std::sort(scored.begin(), scored.end());
    for (int k = 0; k < 2; ++k) {
      const ItemOrdinal i = scored[k].second;
      found += i == (last * 7 + 3) % 60 || i == (last * 7 + 8) % 60;
    }
  }
  CHECK(found > 100);  // of 120
}

TEST_CASE("The same seed gives the same bits for any number of threads, another seed others") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(100, 15, 50, 3, 5);
  const MemoryDirectory items = PlainItems(50);
  RetrieverOptions options = SmallOptions();
  options.negatives = 20;
  const auto one = TrainRetriever(events, items, options, RunInto(scratch / "one"));
  options.threads = 2;
  const auto two = TrainRetriever(events, items, options, RunInto(scratch / "two"));
  options.seed = 2;
  const auto other = TrainRetriever(events, items, options, RunInto(scratch / "other"));
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  REQUIRE(other.ok());
  CHECK(WeightsHash(one->package) == WeightsHash(two->package));
  CHECK(WeightsHash(one->package) != WeightsHash(other->package));
}

TEST_CASE("Training that is stopped and goes on ends with the same bits as training that was not") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(100, 15, 50, 3, 5);
  const MemoryDirectory items = PlainItems(50);
  RetrieverOptions options = SmallOptions();
  const auto straight = TrainRetriever(events, items, options, RunInto(scratch / "straight"));
  REQUIRE(straight.ok());

  int stops = 0;
  absl::StatusOr<RetrieverResult> result = absl::CancelledError("");
  while (absl::IsCancelled(result.status()) && stops < 50) {
    std::stop_source source;
    RetrieverRun run = RunInto(scratch / "stopped");
    run.checkpoint_folder = scratch / "checkpoint";
    run.stop = source.get_token();
    run.progress_interval = absl::ZeroDuration();
    int calls = 0;
    run.progress = [&](const RetrieverProgress&) {
      if (++calls == 4) source.request_stop();
    };
    result = TrainRetriever(events, items, options, run);
    if (absl::IsCancelled(result.status())) {
      ++stops;
      CHECK_THAT(std::string(result.status().message()), Contains("goes on from the checkpoint"));
      CHECK_FALSE(std::filesystem::exists(scratch / "stopped"));
    }
  }
  REQUIRE(result.ok());
  CHECK(stops > 3);
  CHECK(result->resumed);
  CHECK(WeightsHash(result->package) == WeightsHash(straight->package));
  CHECK(result->epoch_ndcg10 == straight->epoch_ndcg10);
  CHECK(result->epoch_losses == straight->epoch_losses);
  // The checkpoint has done its work.
  CHECK(std::filesystem::is_empty(scratch / "checkpoint"));
}

TEST_CASE("A checkpoint of other data or a damaged one is refused, with the remedy") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(60, 12, 50, 3, 5);
  const MemoryDirectory items = PlainItems(50);
  RetrieverOptions options = SmallOptions();
  RetrieverRun run = RunInto(scratch / "p");
  run.checkpoint_folder = scratch / "checkpoint";
  std::stop_source source;
  source.request_stop();
  run.stop = source.get_token();
  REQUIRE(absl::IsCancelled(TrainRetriever(events, items, options, run).status()));
  run.stop = {};

  SECTION("other options") {
    options.dropout = 0.2;
    const absl::Status status = TrainRetriever(events, items, options, run).status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK_THAT(std::string(status.message()), Contains("other data, options") && Contains("remove it"));
  }
  SECTION("other events") {
    const absl::Status status =
        TrainRetriever(MarkovHistories(61, 12, 50, 3, 5), items, options, run).status();
    CHECK(absl::IsFailedPrecondition(status));
  }
  SECTION("a changed byte") {
    const std::filesystem::path file = scratch / "checkpoint" / "retriever.checkpoint.safetensors";
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-100, std::ios::end);
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(-100, std::ios::end);
    stream.put(byte);
    stream.close();
    const absl::Status status = TrainRetriever(events, items, options, run).status();
    CHECK(absl::IsDataLoss(status));
    CHECK_THAT(std::string(status.message()), Contains("remove it"));
  }
}

TEST_CASE("A new item lies among the items that share its content") {
  const Scratch scratch;
  // Six groups of ten items; a user stays in a group. An item's content is its group's word and one of its
  // own.
  MemoryDirectory items;
  for (uint64_t i = 0; i < 60; ++i) items.Add("item" + std::to_string(i), {1000 + i / 10, 5000 + i});
  Interactions events;
  for (uint64_t u = 0; u < 500; ++u) {
    std::vector<ItemOrdinal> history;
    for (uint64_t e = 0; e < 9; ++e) {
      history.push_back(static_cast<ItemOrdinal>(10 * (u % 6) + RandomBelow(u, e, 10)));
    }
    AddHistory(&events, history);
  }
  RetrieverOptions options = SmallOptions();
  options.shape.content_buckets = 1 << 16;  // no two words of this test in one
  options.epochs = 20;
  options.patience = 20;
  options.id_dropout = 0.3;
  const auto result = TrainRetriever(events, items, options, RunInto(scratch / "p"));
  REQUIRE(result.ok());
  std::vector<ItemOrdinal> fresh, all;
  for (uint64_t group = 0; group < 6; ++group)
    fresh.push_back(items.Add("new" + std::to_string(group), {1000 + group, 9000 + group}));
  for (ItemOrdinal i = 0; i < 60; ++i) all.push_back(i);
  const auto retriever = Retriever::Load(result->package, &items);
  REQUIRE(retriever.ok());
  std::vector<float> vectors(60 * 32), own(6 * 32);
  REQUIRE((*retriever)->EmbedItems(all, absl::MakeSpan(vectors)).ok());
  REQUIRE((*retriever)->EmbedItems(fresh, absl::MakeSpan(own)).ok());
  for (int group = 0; group < 6; ++group) {
    std::vector<std::pair<float, int>> scored;
    for (int i = 0; i < 60; ++i) {
      float score = 0;
      for (int c = 0; c < 32; ++c) score += own[group * 32 + c] * vectors[i * 32 + c];
      scored.push_back({-score, i});
    }
    std::sort(scored.begin(), scored.end());
    int same = 0;
    for (int k = 0; k < 10; ++k) same += scored[k].second / 10 == group;
    CHECK(same >= 8);
  }
}

TEST_CASE("Training that starts from a package of the same shape starts better, and of another is refused") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(300, 12, 60, 2, 5);
  const MemoryDirectory items = PlainItems(60);
  RetrieverOptions options = SmallOptions();
  options.epochs = 6;
  const auto first = TrainRetriever(events, items, options, RunInto(scratch / "first"));
  REQUIRE(first.ok());
  RetrieverRun run = RunInto(scratch / "second");
  run.init_from = &first->package;
  options.epochs = 1;
  const auto second = TrainRetriever(events, items, options, run);
  REQUIRE(second.ok());
  CHECK(second->epoch_losses[0] < first->epoch_losses[1]);
  options.shape.hidden = 32;
  run.package_folder = scratch / "third";
  const absl::Status status = TrainRetriever(events, items, options, run).status();
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(std::string(status.message()), Contains("network.hidden"));
}

TEST_CASE("A time budget ends training early with a package") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(300, 12, 60, 2, 5);
  const MemoryDirectory items = PlainItems(60);
  RetrieverOptions options = SmallOptions();
  options.epochs = 10000;
  options.patience = 10000;
  options.time_budget = absl::Milliseconds(300);
  const auto result = TrainRetriever(events, items, options, RunInto(scratch / "p"));
  REQUIRE(result.ok());
  CHECK(result->epochs < 10000);
  CHECK(result->elapsed < absl::Seconds(20));
}

TEST_CASE("Too little data and a folder that exists are refused") {
  const Scratch scratch;
  const MemoryDirectory items = PlainItems(10);
  Interactions events;
  AddHistory(&events, {1, 2});
  AddHistory(&events, {3});
  const absl::Status little = TrainRetriever(events, items, SmallOptions(), RunInto(scratch / "p")).status();
  CHECK(absl::IsFailedPrecondition(little));
  CHECK_THAT(std::string(little.message()), Contains("2 users") && Contains("Import more events"));
  std::filesystem::create_directories(scratch / "there");
  CHECK(absl::IsAlreadyExists(
      TrainRetriever(events, items, SmallOptions(), RunInto(scratch / "there")).status()));
}

}  // namespace
}  // namespace waymark
