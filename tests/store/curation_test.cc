// Synonyms and rules on the disk.
#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

CurationWrite Put(const std::string& id, const std::string& word, std::optional<int64_t> expected = {}) {
  CurationWrite write{CurationKind::kSynonym, id, storage::CurationRecord(), expected};
  write.record->mutable_synonym()->add_words(word);
  return write;
}
CurationWrite Delete(const std::string& id, std::optional<int64_t> expected = {}) {
  return {CurationKind::kSynonym, id, {}, expected};
}

std::vector<CurationWritten> Write(StoreFixture* f, std::vector<CurationWrite> writes) {
  auto written = f->store_->WriteCuration(f->scope_, std::move(writes));
  INFO(written.status());
  REQUIRE(written.ok());
  return *std::move(written);
}

std::string Listed(const StoreFixture& f, const std::string& after = "",
                   CurationKind kind = CurationKind::kSynonym) {
  std::string text;
  const auto status =
      f.store_->ForEachCuration(f.scope_, kind, after, [&](const storage::CurationRecord& record) {
        text += record.id() + std::to_string(record.revision()) + record.synonym().words(0) + " ";
        return true;
      });
  CHECK(status.ok());
  return text;
}

}  // namespace

TEST_CASE("curation is written in batches, each entry on top of the revision that it expects") {
  StoreFixture f;
  auto written = Write(&f, {Put("b", "one", 0), Put("a", "two"), Put("b", "three", 0), Put("b", "four", 1),
                            Put("", "five"), Delete("c"), Put("ab", "six")});
  CHECK(written[0].status.ok());
  CHECK(written[0].after->revision() == 1);
  CHECK_FALSE(written[0].before.has_value());
  CHECK(absl::IsAlreadyExists(written[2].status));
  CHECK(written[3].status.ok());
  CHECK(written[3].before->synonym().words(0) == "one");
  CHECK(written[3].after->revision() == 2);
  CHECK(absl::IsInvalidArgument(written[4].status));
  CHECK(absl::IsNotFound(written[5].status));
  CHECK(Listed(f) == "a1two ab1six b2four ");
  CHECK(Listed(f, "a") == "ab1six b2four ");
  CHECK(Listed(f, "b").empty());
  CHECK(Listed(f, "", CurationKind::kRule).empty());
  CHECK(absl::IsAborted(Write(&f, {Put("b", "x", 1)})[0].status));
  CHECK(absl::IsAborted(Write(&f, {Delete("b", 1)})[0].status));
  CHECK(absl::IsAborted(Write(&f, {Put("new", "x", 3)})[0].status));
  CHECK(Write(&f, {Delete("b", 2)})[0].before->revision() == 2);
  CHECK(Listed(f) == "a1two ab1six ");
  // A new one of this id begins anew.
  CHECK(Write(&f, {Put("b", "seven")})[0].after->revision() == 1);
}

TEST_CASE("curation is there after the store is opened again, apart by collection and kind") {
  StoreFixture f;
  Write(&f, {Put("a", "one")});
  auto other = f.store_->CreateCollection({"acme", "default"});
  REQUIRE(other.ok());
  CurationWrite rule{CurationKind::kRule, "a", storage::CurationRecord(), {}};
  rule.record->mutable_rule()->set_query("star");
  REQUIRE(f.store_->WriteCuration(*other, {rule}).ok());
  f.Reopen();
  CHECK(Listed(f) == "a1one ");
  CHECK(absl::IsNotFound(f.store_->GetCuration(f.scope_, CurationKind::kRule, "a").status()));
  CHECK(absl::IsNotFound(f.store_->GetCuration(*other, CurationKind::kSynonym, "a").status()));
  CHECK(f.store_->GetCuration(*other, CurationKind::kRule, "a")->rule().query() == "star");
}

}  // namespace waymark::tests
