#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "recommend/network/item_encoder.h"
#include "recommend/network/retriever_weights.h"
#include "recommend/retriever.h"
#include "tests/support/catch.h"
#include "tests/support/memory_directory.h"

namespace waymark {
namespace {

using tests::MemoryDirectory;

class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("retriever_load." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A package with random weights, and what a test changes about it.
struct Draft {
  RetrieverShape shape;
  storage::ModelManifest manifest;
  TensorMap tensors;
  std::vector<std::string> vocabulary{"a", "b", "c", "gone"};

  Draft() {
    shape.width = 16;
    shape.hidden = 16;
    shape.history_limit = 4;
    shape.content_buckets = 64;
    shape.content_width = 8;
    manifest.set_kind("retriever");
    manifest.set_version("3");
    manifest.set_name("test");
    shape.ToNetwork(manifest.mutable_network());
    DenseWeights dense(shape);
    InitializeDense(&dense, 5);
    AppendTensors(dense, &tensors);
    for (const NamedShape& table : shape.Tables(vocabulary.size())) {
      tensors[table.name] = ToTensorData(InitialTable(table, 0.5, 6));
    }
  }
  ModelPackage Write(const std::filesystem::path& folder) const {
    absl::StatusOr<ModelPackage> package =
        WriteModelPackage(folder, manifest, tensors, {{"items", vocabulary}});
    REQUIRE(package.ok());
    return *package;
  }
};

MemoryDirectory Items() {
  MemoryDirectory items;
  items.Add("new", {77, 78});
  items.Add("b", {77});
  items.Add("a", {79, 80, 81});
  items.Add("c");
  return items;
}

std::vector<HistoryEvent> History(const std::vector<ItemOrdinal>& items) {
  std::vector<HistoryEvent> history;
  for (ItemOrdinal item : items) {
    HistoryEvent event;
    event.item = item;
    event.time = absl::FromUnixSeconds(100 * static_cast<int64_t>(history.size()));
    history.push_back(event);
  }
  return history;
}

std::vector<float> Encode(const Retriever& retriever, const std::vector<ItemOrdinal>& items) {
  std::vector<float> out(retriever.width());
  REQUIRE(retriever.EncodeUser(History(items), absl::UnixEpoch(), absl::MakeSpan(out)).ok());
  return out;
}

TEST_CASE("A loaded retriever gives unit vectors and says what it is") {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  const ModelPackage package = Draft().Write(scratch / "p");
  const auto retriever = Retriever::Load(package, &items);
  REQUIRE(retriever.ok());
  CHECK((*retriever)->version() == "3");
  CHECK((*retriever)->content_sha256() == package.content_sha256);
  CHECK((*retriever)->width() == 16);
  CHECK((*retriever)->history_limit() == 4);
  std::vector<float> vectors(4 * 16);
  REQUIRE((*retriever)->EmbedItems({0, 1, 2, 3}, absl::MakeSpan(vectors)).ok());
  for (int i = 0; i < 4; ++i) {
    double square = 0;
    for (int c = 0; c < 16; ++c) square += vectors[16 * i + c] * vectors[16 * i + c];
    CHECK(square == Approx(1).epsilon(1e-5));
  }
  double square = 0;
  for (float x : Encode(**retriever, {1, 2, 0})) square += x * x;
  CHECK(square == Approx(1).epsilon(1e-5));
}

TEST_CASE("An item's vector is its id's (or the unknown's) plus the projected mean of its content") {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  Draft draft;
  const auto retriever = Retriever::Load(draft.Write(scratch / "p"), &items);
  REQUIRE(retriever.ok());
  std::vector<float> vectors(2 * 16);
  REQUIRE((*retriever)->EmbedItems({0, 2}, absl::MakeSpan(vectors)).ok());
  const auto floats = [&](const char* name) { return draft.tensors.at(name).floats(); };
  const ContentBuckets content = FoldContent({{77, 78}, {79, 80, 81}}, 64);
  for (int i = 0; i < 2; ++i) {
    std::vector<double> expected(16);
    double square = 0;
    for (int c = 0; c < 16; ++c) {
      expected[c] = i == 0 ? floats("items.unknown")[c] : floats("items.id")[c];  // "a" is the first entry
      for (uint32_t bucket : content.Of(i)) {
        for (int k = 0; k < 8; ++k) {
          expected[c] += floats("content.buckets")[bucket * 8 + k] *
                         floats("content.projection")[k * 16 + c] / static_cast<double>(content.Of(i).size());
        }
      }
      square += expected[c] * expected[c];
    }
    for (int c = 0; c < 16; ++c)
      CHECK(vectors[16 * i + c] == Approx(expected[c] / std::sqrt(square)).margin(1e-5));
  }
}

TEST_CASE("The same package read again gives the same bits") {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  Draft().Write(scratch / "p");
  const auto one = Retriever::Load(*OpenModelPackage(scratch / "p"), &items);
  const auto two = Retriever::Load(*OpenModelPackage(scratch / "p"), &items);
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  CHECK(Encode(**one, {1, 2, 0, 3}) == Encode(**two, {1, 2, 0, 3}));
  std::vector<float> a(4 * 16), b(4 * 16);
  REQUIRE((*one)->EmbedItems({0, 1, 2, 3}, absl::MakeSpan(a)).ok());
  REQUIRE((*two)->EmbedItems({0, 1, 2, 3}, absl::MakeSpan(b)).ok());
  CHECK(a == b);
}

TEST_CASE("Only the newest events up to the limit count, and many users at once equal one by one") {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  const auto retriever = Retriever::Load(Draft().Write(scratch / "p"), &items);
  REQUIRE(retriever.ok());
  const std::vector<float> kept = Encode(**retriever, {0, 1, 2, 3});
  std::vector<HistoryEvent> longer = History({3, 0, 1, 2, 3});
  std::vector<float> out(16);
  REQUIRE((*retriever)->EncodeUser(longer, absl::UnixEpoch(), absl::MakeSpan(out)).ok());
  for (int c = 0; c < 16; ++c) CHECK(out[c] == Approx(kept[c]).margin(1e-6));
  std::vector<float> many(3 * 16);
  REQUIRE((*retriever)
              ->EncodeUsers({History({1}), longer, History({2, 2})}, absl::UnixEpoch(), absl::MakeSpan(many))
              .ok());
  for (int c = 0; c < 16; ++c) CHECK(many[16 + c] == Approx(kept[c]).margin(1e-5));
  const std::vector<float> last = Encode(**retriever, {2, 2});
  for (int c = 0; c < 16; ++c) CHECK(many[32 + c] == Approx(last[c]).margin(1e-5));
}

TEST_CASE("Users without a history and outputs of the wrong size are refused") {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  const auto retriever = Retriever::Load(Draft().Write(scratch / "p"), &items);
  REQUIRE(retriever.ok());
  std::vector<float> out(16), small(15);
  CHECK((*retriever)->EncodeUser({}, absl::UnixEpoch(), absl::MakeSpan(out)).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK((*retriever)->EncodeUser(History({1}), absl::UnixEpoch(), absl::MakeSpan(small)).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK((*retriever)->EmbedItems({1, 2}, absl::MakeSpan(out)).code() == absl::StatusCode::kInvalidArgument);
}

// What Load says of a changed draft.
std::string Refusal(const Draft& draft, const std::string& name) {
  const Scratch scratch;
  const MemoryDirectory items = Items();
  const auto retriever = Retriever::Load(draft.Write(scratch / name), &items);
  if (retriever.ok()) return "";
  return std::string(retriever.status().message());
}

TEST_CASE("A package that does not fit is refused with the reason") {
  using Catch::Matchers::Contains;
  Draft draft;
  SECTION("another kind") {
    draft.manifest.set_kind("ranker");
    CHECK_THAT(Refusal(draft, "p"), Contains("'ranker'"));
  }
  SECTION("an unknown key of the network") {
    (*draft.manifest.mutable_network())[std::string("depth")] = 3;
    CHECK_THAT(Refusal(draft, "p"), Contains("depth"));
  }
  SECTION("a missing key of the network") {
    draft.manifest.mutable_network()->erase("heads");
    CHECK_THAT(Refusal(draft, "p"), Contains("heads"));
  }
  SECTION("a value out of its range") {
    (*draft.manifest.mutable_network())[std::string("width")] = 1e12;
    CHECK_THAT(Refusal(draft, "p"), Contains("network.width"));
  }
  SECTION("a width that the heads do not divide") {
    (*draft.manifest.mutable_network())[std::string("heads")] = 3;
    CHECK_THAT(Refusal(draft, "p"), Contains("multiple"));
  }
  SECTION("a missing tensor") {
    draft.tensors.erase("blocks.1.feed.output.weight");
    CHECK_THAT(Refusal(draft, "p"), Contains("blocks.1.feed.output.weight"));
  }
  SECTION("a tensor of another shape") {
    draft.tensors["final.norm.bias"] = TensorData::F32({2}, {1, 2});
    CHECK_THAT(Refusal(draft, "p"), Contains("final.norm.bias") && Contains("[16]") && Contains("[2]"));
  }
  SECTION("a tensor that nothing asked for") {
    draft.tensors["blocks.2.extra"] = TensorData::F32({1}, {1});
    CHECK_THAT(Refusal(draft, "p"), Contains("blocks.2.extra"));
  }
  SECTION("a weight that is not finite") {
    std::vector<float> values(16, 0.5f);
    values[3] = std::numeric_limits<float>::quiet_NaN();
    draft.tensors["items.unknown"] = TensorData::F32({16}, values);
    CHECK_THAT(Refusal(draft, "p"), Contains("items.unknown") && Contains("position 3"));
  }
  SECTION("a vocabulary of another size than the table") {
    draft.vocabulary.pop_back();
    CHECK_THAT(Refusal(draft, "p"), Contains("items.id") && Contains("3 entries"));
  }
}

}  // namespace
}  // namespace waymark
