#include "recommend/field_vectors.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "recommend/checked_folder.h"
#include "tests/recommend/contexts.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using storage::FieldRecord;
using tests::Only;

constexpr int kNumbers = 24;

// Items with vectors in a store, beside the same numbers in plain C++.
class Gallery {
 public:
  explicit Gallery(FieldRecord::Metric metric, uint32_t seed = 1)
      : random_(seed),
        folder_(fs::temp_directory_path() / absl::StrCat("waymark_field_vectors_", ::getpid())) {
    fs::remove_all(folder_);
    auto opened = Store::Open(folder_, {});
    REQUIRE(opened.ok());
    store = *std::move(opened);
    scope = *store->CreateCollection({});
    storage::SchemaRecord record;
    record.set_declared(true);
    FieldRecord* field = record.add_fields();
    field->set_name("look");
    field->set_type(FieldRecord::VECTOR);
    field->set_dimension(kNumbers);
    field->set_metric(metric);
    schema = std::make_shared<const Schema>(*Schema::FromRecord(record));
    metric_ = metric;
  }
  ~Gallery() {
    vectors.reset();
    store.reset();
    fs::remove_all(folder_);
  }
  std::vector<float> Random() {
    std::normal_distribution<float> normal;
    std::vector<float> vector(kNumbers);
    for (float& x : vector) x = normal(random_);
    return vector;
  }
  void Put(int first, int end) {
    std::vector<Mutation> writes;
    for (int i = first; i < end; ++i) {
      PutItem item{.id = absl::StrCat("i", i)};
      const std::vector<float> vector = Random();
      for (const float x : vector) {
        (*item.fields.mutable_fields())["look"].mutable_list_value()->add_values()->set_number_value(x);
      }
      truth[item.id] = vector;
      writes.push_back(item);
    }
    Write(std::move(writes));
  }
  void Write(std::vector<Mutation> writes) {
    auto receipt = store->Write(scope, std::move(writes));
    REQUIRE(receipt.ok());
    for (const auto& result : receipt->results) REQUIRE(result.status.ok());
  }
  void Open(FieldVectors::Options options = {.tail_limit = 300, .cosine_flat_limit = 1000}) {
    vectors.reset();
    auto opened = FieldVectors::Open(store.get(), scope, schema, options);
    INFO(opened.status());
    REQUIRE(opened.ok());
    vectors = *std::move(opened);
  }
  void Follow() {
    while (vectors->position() < store->End()) {
      std::vector<Change> changes;
      auto read = store->Read(scope, vectors->position(), 500, [&](const Change& change) {
        changes.push_back(change);
        return absl::OkStatus();
      });
      REQUIRE(read.ok());
      REQUIRE(vectors->Apply(changes, *read).ok());
    }
  }
  double Nearness(absl::Span<const float> a, absl::Span<const float> b) const {
    double product = 0, squares = 0, na = 0, nb = 0;
    for (int i = 0; i < kNumbers; ++i) {
      product += double{a[i]} * b[i];
      squares += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
      na += double{a[i]} * a[i];
      nb += double{b[i]} * b[i];
    }
    if (metric_ == FieldRecord::EUCLIDEAN) return -std::sqrt(squares);
    return metric_ == FieldRecord::DOT_PRODUCT ? product : product / std::sqrt(na * nb);
  }
  // Best first, by a look at each.
  std::vector<std::pair<double, ItemOrdinal>> BruteForce(absl::Span<const float> query,
                                                         const ItemSet* allowed) {
    std::vector<std::pair<double, ItemOrdinal>> all;
    for (const auto& [id, vector] : truth) {
      const ItemOrdinal item = *store->FindItem(scope, id);
      if (allowed == nullptr || allowed->Contains(item)) all.emplace_back(-Nearness(query, vector), item);
    }
    std::sort(all.begin(), all.end());
    for (auto& [score, item] : all) score = -score;
    return all;
  }
  std::vector<ScoredItem> Find(absl::Span<const float> query, size_t limit,
                               const ItemSet* allowed = nullptr) {
    auto found = vectors->Search("look", query, limit, allowed, {}, Deadline::Never());
    INFO(found.status());
    REQUIRE(found.ok());
    return *found;
  }
  void CheckExact(const ItemSet* allowed = nullptr) {
    for (int q = 0; q < 20; ++q) {
      const std::vector<float> query = Random();
      const auto expected = BruteForce(query, allowed);
      const auto found = Find(query, 10, allowed);
      REQUIRE(found.size() == std::min<size_t>(10, expected.size()));
      for (size_t i = 0; i < found.size(); ++i) {
        REQUIRE(std::abs(found[i].score - expected[i].first) < 1e-4);
        REQUIRE(found[i].item == expected[i].second);
      }
    }
  }
  PartCheck Check() {
    PartCheck check{.part = "vectors"};
    REQUIRE(vectors->Check(&check).ok());
    return check;
  }

  std::unique_ptr<Store> store;
  Scope scope;
  std::shared_ptr<const Schema> schema;
  std::unique_ptr<FieldVectors> vectors;
  std::map<std::string, std::vector<float>> truth;

 private:
  std::mt19937 random_;
  fs::path folder_;
  FieldRecord::Metric metric_ = FieldRecord::COSINE;
};

TEST_CASE("the nearest by each metric are those that a look at each item finds") {
  for (const auto metric : {FieldRecord::COSINE, FieldRecord::DOT_PRODUCT, FieldRecord::EUCLIDEAN}) {
    INFO(FieldRecord::Metric_Name(metric));
    Gallery gallery(metric);
    gallery.Put(0, 400);
    gallery.Open();
    gallery.CheckExact();
    // Written, changed, deleted, and without a vector.
    gallery.Put(350, 800);
    gallery.Write({DeleteItem{"i3"}, DeleteItem{"i500"}, PutItem{.id = "i4"}, PutItem{.id = "new"}});
    for (const char* gone : {"i3", "i500", "i4"}) gallery.truth.erase(gone);
    gallery.Follow();
    gallery.CheckExact();
    CHECK(gallery.vectors->status()[0].vectors == gallery.truth.size());
    std::vector<ItemOrdinal> few;
    for (ItemOrdinal i = 0; i < 800; i += 37) few.push_back(i);
    const auto allowed = Only(few);
    gallery.CheckExact(allowed.get());
    const PartCheck check = gallery.Check();
    CHECK(check.clean());
    CHECK(check.items == static_cast<int64_t>(gallery.truth.size()));
  }
}

TEST_CASE("a large index recalls what brute force finds, and all of it under a filter that keeps few") {
  Gallery gallery(FieldRecord::COSINE, 5);
  gallery.Put(0, 6000);
  gallery.Open({.tail_limit = 500, .cosine_flat_limit = 1000});
  // Sealed and merged in the background; searches go on meanwhile.
  size_t found_too = 0, asked = 0;
  for (int q = 0; q < 60; ++q) {
    const std::vector<float> query = gallery.Random();
    const auto expected = gallery.BruteForce(query, nullptr);
    std::set<ItemOrdinal> best;
    for (size_t i = 0; i < 10; ++i) best.insert(expected[i].second);
    for (const ScoredItem& hit : gallery.Find(query, 10)) found_too += best.contains(hit.item);
    asked += 10;
  }
  CHECK(static_cast<double>(found_too) / static_cast<double>(asked) > 0.95);
  std::vector<ItemOrdinal> few;
  for (ItemOrdinal i = 0; i < 6000; i += 61) few.push_back(i);
  gallery.CheckExact(Only(few).get());
}

TEST_CASE("vectors are durable, and the tail of the log is taken in at the next start") {
  Gallery gallery(FieldRecord::EUCLIDEAN);
  gallery.Put(0, 700);
  gallery.Open();
  REQUIRE(gallery.vectors->Checkpoint().ok());
  gallery.Put(600, 760);
  gallery.Write({DeleteItem{"i1"}});
  gallery.truth.erase("i1");
  gallery.Open();
  CHECK(gallery.vectors->position() == gallery.store->End());
  CHECK(gallery.vectors->status()[0].rebuild_reason.empty());
  gallery.CheckExact();
  CHECK(gallery.Check().clean());
}

TEST_CASE("each of 64 flips and cuts of a vector file is found, reported and put right") {
  Gallery gallery(FieldRecord::COSINE);
  gallery.Put(0, 900);
  gallery.Open({.tail_limit = 200, .cosine_flat_limit = 1000});
  for (int i = 0; i < 200; ++i) {  // until a segment is sealed
    REQUIRE(gallery.vectors->Checkpoint().ok());
    size_t files = 0;
    for (const auto& entry : fs::directory_iterator(gallery.vectors->status()[0].folder))
      files += entry.is_regular_file();
    if (files >= 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const fs::path folder = gallery.vectors->status()[0].folder;
  const fs::path intact = folder.string() + "-intact";
  gallery.vectors.reset();
  fs::copy(folder, intact, fs::copy_options::recursive);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(intact)) names.push_back(entry.path().filename().string());
  REQUIRE(names.size() >= 2);
  for (const std::string& name : names) {
    const auto size = fs::file_size(intact / name);
    for (int i = 0; i < 64; ++i) {
      const bool cut = i % 2 == 1;
      const auto at = size * static_cast<uintmax_t>(i) / 64;
      INFO(name << (cut ? " cut at " : " flipped at ") << at);
      fs::remove_all(folder);
      fs::copy(intact, folder, fs::copy_options::recursive);
      if (cut) {
        fs::resize_file(folder / name, at);
      } else {
        std::fstream bytes(folder / name, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(static_cast<std::streamoff>(at));
        const char byte = static_cast<char>(bytes.get() ^ (1 << (i / 2 % 8)));
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(byte);
      }
      PartCheck files{.part = "vectors"};
      fs::rename(intact, intact.parent_path().parent_path() / "intact");  // out of the way
      CheckVectorFiles(gallery.store->data_folder(), gallery.scope, &files);
      fs::rename(intact.parent_path().parent_path() / "intact", intact);
      REQUIRE_FALSE(files.clean());
      gallery.Open();
      REQUIRE_FALSE(gallery.vectors->status()[0].rebuild_reason.empty());
      REQUIRE(fs::exists(folder.string() + ".damaged"));
      REQUIRE(gallery.vectors->status()[0].vectors == 900);
      if (i < 2) gallery.CheckExact();
      gallery.vectors.reset();
    }
  }
}

TEST_CASE("another schema makes other indexes") {
  Gallery gallery(FieldRecord::COSINE);
  gallery.Put(0, 50);
  gallery.Open();
  storage::SchemaRecord record = gallery.schema->record();
  record.mutable_fields(0)->set_metric(FieldRecord::DOT_PRODUCT);
  FieldRecord* second = record.add_fields();
  *second = record.fields(0);
  second->set_name("sound");
  REQUIRE(gallery.vectors->Adopt(std::make_shared<const Schema>(*Schema::FromRecord(record))).ok());
  REQUIRE(gallery.vectors->status().size() == 2);
  CHECK(gallery.vectors->status()[0].vectors == 50);
  CHECK(gallery.vectors->status()[1].vectors == 0);
  const auto found = gallery.Find(gallery.truth["i7"], 1);
  double squares = 0;
  for (const float x : gallery.truth["i7"]) squares += double{x} * x;
  CHECK(found[0].score >= squares - 1e-3);
  record.clear_fields();
  REQUIRE(gallery.vectors->Adopt(std::make_shared<const Schema>(*Schema::FromRecord(record))).ok());
  CHECK(gallery.vectors->status().empty());
}

TEST_CASE("what is asked wrongly is refused by name") {
  Gallery gallery(FieldRecord::COSINE);
  gallery.Put(0, 5);
  gallery.Open();
  const auto refusal = [&](const std::string& field, const std::vector<float>& values) {
    return std::string(
        gallery.vectors->Search(field, values, 5, nullptr, {}, Deadline::Never()).status().message());
  };
  CHECK(refusal("sound", {1}) == "vector.field: 'sound' is no VECTOR field of the schema; there are look");
  CHECK(refusal("look", {1, 2}) == "vector.values: has 2 numbers; field 'look' has dimension 24");
  CHECK(refusal("look", std::vector<float>(kNumbers, 0)) ==
        "vector.values: are all zero, which is no direction");
  std::vector<float> values(kNumbers, 1);
  values[3] = std::numeric_limits<float>::infinity();
  CHECK(refusal("look", values) == "vector.values[3]: is no finite number");
}

TEST_CASE("a check finds what differs, and a rebuild mends it") {
  Gallery gallery(FieldRecord::DOT_PRODUCT);
  gallery.Put(0, 40);
  gallery.Open();
  // A change that never reached the vectors, as if the log had been skipped.
  gallery.Put(7, 8);
  gallery.Write({DeleteItem{"i9"}});
  REQUIRE(gallery.vectors->Apply({}, gallery.store->End()).ok());
  const PartCheck check = gallery.Check();
  CHECK(check.findings_count == 2);
  REQUIRE(check.findings.size() == 2);
  CHECK(check.findings[0].where == "item 'i7'");
  CHECK(check.findings[1].where == "item 'i9'");
  REQUIRE(gallery.vectors->Rebuild("a test").ok());
  CHECK(gallery.Check().clean());
  CHECK(gallery.vectors->status()[0].rebuild_reason == "a test");
}

}  // namespace
}  // namespace waymark
