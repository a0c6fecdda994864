#include "recommend/vector_index.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "recommend/top_items.h"
#include "tests/recommend/contexts.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ItemsOf;

constexpr int kWidth = 32;

// Unit vectors in clusters, as learned item vectors lie: one of 60 centres and noise of about its length.
std::vector<float> ClusteredVectors(size_t count, uint32_t seed) {
  std::normal_distribution<float> normal;
  std::mt19937 random(1);
  std::vector<float> centres(60 * kWidth);
  for (float& x : centres) x = normal(random);
  random.seed(seed);
  std::vector<float> vectors(count * kWidth);
  for (size_t i = 0; i < count; ++i) {
    const size_t centre = random() % 60;
    double squares = 0;
    for (int d = 0; d < kWidth; ++d) {
      float& x = vectors[i * kWidth + static_cast<size_t>(d)];
      x = centres[centre * kWidth + static_cast<size_t>(d)] + normal(random);
      squares += x * x;
    }
    for (int d = 0; d < kWidth; ++d)
      vectors[i * kWidth + static_cast<size_t>(d)] /= static_cast<float>(std::sqrt(squares));
  }
  return vectors;
}

std::vector<ItemOrdinal> Ordinals(size_t count, ItemOrdinal first = 0) {
  std::vector<ItemOrdinal> items(count);
  for (size_t i = 0; i < count; ++i) items[i] = first + static_cast<ItemOrdinal>(i);
  return items;
}

absl::Span<const float> Row(const std::vector<float>& vectors, size_t row) {
  return absl::MakeConstSpan(vectors).subspan(row * kWidth, kWidth);
}

template <typename Keep>
std::vector<ItemOrdinal> BruteForce(const std::vector<float>& vectors, absl::Span<const float> query,
                                    size_t limit, Keep keep) {
  TopItems top(limit);
  for (size_t i = 0; i < vectors.size() / kWidth; ++i) {
    if (!keep(static_cast<ItemOrdinal>(i))) continue;
    float product = 0;
    for (int d = 0; d < kWidth; ++d)
      product += query[static_cast<size_t>(d)] * Row(vectors, i)[static_cast<size_t>(d)];
    top.Offer(static_cast<ItemOrdinal>(i), product);
  }
  return ItemsOf(top.Take());
}

double Recall(const std::vector<ItemOrdinal>& found, const std::vector<ItemOrdinal>& truth) {
  const std::set<ItemOrdinal> have(found.begin(), found.end());
  size_t hits = 0;
  for (ItemOrdinal item : truth) hits += have.contains(item);
  return truth.empty() ? 1 : static_cast<double>(hits) / static_cast<double>(truth.size());
}

std::unique_ptr<VectorIndex> MakeIndex(VectorIndexOptions options) {
  options.width = kWidth;
  auto index = VectorIndex::Create(options);
  REQUIRE(index.ok());
  return *std::move(index);
}

std::vector<ItemOrdinal> Find(const VectorIndex& index, absl::Span<const float> query, size_t limit,
                              const ItemSet* allowed = nullptr, std::vector<ItemOrdinal> excluded = {}) {
  auto found = index.Search(query, limit, allowed, excluded, Deadline::Never());
  REQUIRE(found.ok());
  return ItemsOf(*found);
}

TEST_CASE("a flat index answers exactly what brute force does, from tail and segments alike") {
  const auto vectors = ClusteredVectors(3000, 1);
  auto index = MakeIndex({.tail_limit = 1000});
  for (size_t begin = 0; begin < 3000; begin += 500) {
    REQUIRE(index
                ->Add(Ordinals(500, static_cast<ItemOrdinal>(begin)),
                      absl::MakeConstSpan(vectors).subspan(begin * kWidth, 500 * kWidth))
                .ok());
    if (begin < 2000) REQUIRE(index->Maintain().ok());
  }
  CHECK(index->size() == 3000);
  const auto queries = ClusteredVectors(20, 2);
  for (size_t q = 0; q < 20; ++q) {
    const auto truth = BruteForce(vectors, Row(queries, q), 50, [](ItemOrdinal) { return true; });
    CHECK(Find(*index, Row(queries, q), 50) == truth);
    const ItemSet even = [&] {
      std::vector<ItemOrdinal> items;
      for (ItemOrdinal i = 0; i < 3000; i += 2) items.push_back(i);
      return ItemSet::Of(items);
    }();
    CHECK(Find(*index, Row(queries, q), 50, &even, {0, 2, 4}) ==
          BruteForce(vectors, Row(queries, q), 50, [](ItemOrdinal i) { return i % 2 == 0 && i > 4; }));
  }
}

TEST_CASE("a graph finds at least 95 of 100 true neighbours, with and without filters") {
  constexpr size_t kItems = 20000;
  const auto vectors = ClusteredVectors(kItems, 3);
  auto index = MakeIndex({.tail_limit = 1, .flat_segment_limit = 1000, .ef_construction = 100});
  REQUIRE(index->Add(Ordinals(kItems), vectors).ok());
  REQUIRE(index->Maintain().ok());
  const auto queries = ClusteredVectors(40, 4);
  // One in 1, 2, 5, 20, 200 items is kept: by the graph, by the graph, by a scan of what is kept.
  for (ItemOrdinal every : {1, 2, 5, 20, 200}) {
    std::vector<ItemOrdinal> kept;
    for (ItemOrdinal i = 0; i < kItems; i += every) kept.push_back(i);
    const ItemSet allowed = ItemSet::Of(kept);
    double recall = 0;
    for (size_t q = 0; q < 40; ++q) {
      const auto truth =
          BruteForce(vectors, Row(queries, q), 50, [&](ItemOrdinal i) { return i % every == 0; });
      recall += Recall(Find(*index, Row(queries, q), 50, every == 1 ? nullptr : &allowed), truth) / 40;
    }
    std::printf("one in %u kept: recall %.4f\n", every, recall);
    CHECK(recall >= (every >= 20 ? 1 - 1e-9 : 0.95));
  }
}

TEST_CASE("an item that is put in again has its new vector only") {
  const auto first = ClusteredVectors(10, 5), second = ClusteredVectors(10, 6);
  auto index = MakeIndex({.tail_limit = 1});
  REQUIRE(index->Add(Ordinals(10), first).ok());
  SECTION("while it is in the tail") {}
  SECTION("when it is sealed") { REQUIRE(index->Maintain().ok()); }
  REQUIRE(index->Add(std::vector<ItemOrdinal>{4}, Row(second, 4)).ok());
  CHECK(index->size() == 10);
  std::vector<float> read(kWidth);
  CHECK(index->ReadVectors(std::vector<ItemOrdinal>{4}, absl::MakeSpan(read)) == 1);
  CHECK(std::vector<float>(Row(second, 4).begin(), Row(second, 4).end()) == read);
  CHECK(Find(*index, Row(second, 4), 20).front() == 4);
  CHECK(Find(*index, Row(second, 4), 20).size() == 10);
  REQUIRE(index->Maintain().ok());
  CHECK(Find(*index, Row(second, 4), 20).size() == 10);
}

TEST_CASE("a removed item is gone from lists and reads, before and after upkeep") {
  const auto vectors = ClusteredVectors(400, 7);
  auto index = MakeIndex({.tail_limit = 100});
  REQUIRE(index->Add(Ordinals(400), vectors).ok());
  REQUIRE(index->Maintain().ok());
  std::vector<ItemOrdinal> gone;
  for (ItemOrdinal i = 0; i < 300; ++i) gone.push_back(i);
  index->Remove(gone);
  index->Remove(gone);  // again: nothing more
  CHECK(index->size() == 100);
  for (int pass = 0; pass < 2; ++pass) {
    const auto found = Find(*index, Row(vectors, 17), 400);
    CHECK(found.size() == 100);
    CHECK(*std::min_element(found.begin(), found.end()) == 300);
    std::vector<float> read(2 * kWidth, 1);
    CHECK(index->ReadVectors(std::vector<ItemOrdinal>{17, 317}, absl::MakeSpan(read)) == 1);
    CHECK(read[0] == 0);
    REQUIRE(index->Maintain().ok());
  }
}

TEST_CASE("an index comes back from its folder with what it held") {
  const auto folder = std::filesystem::temp_directory_path() / "waymark_vectors_test";
  std::filesystem::remove_all(folder);
  const auto vectors = ClusteredVectors(3000, 8);
  const VectorIndexOptions options = {.width = kWidth, .tail_limit = 1000, .flat_segment_limit = 500};
  auto index = MakeIndex(options);
  REQUIRE(index->Add(Ordinals(2000), absl::MakeConstSpan(vectors).first(2000 * kWidth)).ok());
  REQUIRE(index->Maintain().ok());
  REQUIRE(index->Add(Ordinals(1000, 2000), absl::MakeConstSpan(vectors).last(1000 * kWidth)).ok());
  index->Remove(std::vector<ItemOrdinal>{3, 2500});
  REQUIRE(index->Save(folder, "abc", 77).ok());
  REQUIRE(index->Save(folder, "abc", 78).ok());  // over itself

  auto opened = VectorIndex::Open(folder, "abc", options);
  REQUIRE(opened.ok());
  CHECK((*opened)->saved_position() == 78);
  CHECK((*opened)->size() == 2998);
  for (size_t q = 0; q < 10; ++q)
    CHECK(Find(**opened, Row(vectors, q * 300), 30) == Find(*index, Row(vectors, q * 300), 30));

  const auto foreign = VectorIndex::Open(folder, "def", options).status();
  CHECK(foreign.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(foreign.message().find("abc") != absl::string_view::npos);
  CHECK(foreign.message().find("def") != absl::string_view::npos);
  CHECK(VectorIndex::Open(folder / "none", "abc", options).status().code() == absl::StatusCode::kNotFound);

  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string bytes;
    {
      std::ifstream in(entry.path(), std::ios::binary);
      bytes.assign((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    }
    std::string damaged = bytes;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    std::ofstream(entry.path(), std::ios::binary) << damaged;
    const auto status = VectorIndex::Open(folder, "abc", options).status();
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK(status.message().find(entry.path().filename().string()) != absl::string_view::npos);
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("segments that are merged away leave the folder with the next save") {
  const auto folder = std::filesystem::temp_directory_path() / "waymark_vectors_merge_test";
  std::filesystem::remove_all(folder);
  const auto vectors = ClusteredVectors(400, 9);
  auto index = MakeIndex({.tail_limit = 100});
  for (size_t begin = 0; begin < 400; begin += 100) {
    REQUIRE(index
                ->Add(Ordinals(100, static_cast<ItemOrdinal>(begin)),
                      absl::MakeConstSpan(vectors).subspan(begin * kWidth, 100 * kWidth))
                .ok());
    REQUIRE(index->Maintain().ok());
    REQUIRE(index->Save(folder, "abc", begin).ok());
  }
  size_t segments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    segments += entry.path().filename().string().starts_with("segment-");
  CHECK(segments == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("what does not fit or is no vector is refused, and says so") {
  auto index = MakeIndex({.memory_limit_bytes = 100000});
  const auto vectors = ClusteredVectors(1000, 10);
  const absl::Status full = index->Add(Ordinals(1000), vectors);
  CHECK(full.code() == absl::StatusCode::kResourceExhausted);
  CHECK(full.message().find("132000") != absl::string_view::npos);
  CHECK(index->size() == 0);
  CHECK(index->Add(Ordinals(2), absl::MakeConstSpan(vectors).first(kWidth)).code() ==
        absl::StatusCode::kInvalidArgument);
  std::vector<float> bad(kWidth, 0.1f);
  bad[3] = std::nanf("");
  CHECK(index->Add(Ordinals(1), bad).code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(index->Search(std::vector<float>(7), 10, nullptr, {}, Deadline::Never()).ok());
}

TEST_CASE("a search past its deadline answers what it has, at once") {
  const auto vectors = ClusteredVectors(2000, 11);
  auto index = MakeIndex({});
  REQUIRE(index->Add(Ordinals(2000), vectors).ok());
  const FixedClock clock(absl::FromUnixSeconds(10));
  auto found =
      index->Search(Row(vectors, 0), 10, nullptr, {}, Deadline::At(absl::FromUnixSeconds(5), &clock));
  REQUIRE(found.ok());
  CHECK(found->empty());
}

TEST_CASE("upkeep that is stopped leaves the index as it was") {
  const auto vectors = ClusteredVectors(3000, 12);
  auto index = MakeIndex({.tail_limit = 100, .flat_segment_limit = 100});
  REQUIRE(index->Add(Ordinals(3000), vectors).ok());
  CHECK(index->Maintain([] { return true; }).code() == absl::StatusCode::kCancelled);
  CHECK(index->size() == 3000);
  CHECK(Find(*index, Row(vectors, 5), 10) ==
        BruteForce(vectors, Row(vectors, 5), 10, [](ItemOrdinal) { return true; }));
  CHECK(index->Maintain().ok());
}

}  // namespace
}  // namespace waymark
