// What a bulk load writes is what Lucene++ writes of the same documents, and what it compiles is what is read
// back from that.
#include "index/bulk_part.h"

#include "tests/index/bulk_documents.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"
#include "tests/support/small_disk.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;

// So that a few documents fill a run, and a few runs a segment.
constexpr BulkPartLimits kSmall{.table_bytes = 30'000, .segment_bytes = 50'000};

std::vector<BulkSegment> FinishPart(BulkPart* part) {
  auto segments = part->Finish();
  INFO(segments.status());
  REQUIRE(segments.ok());
  return *std::move(segments);
}

std::string Image(const CompiledSegment& segment) {
  return {reinterpret_cast<const char*>(segment.image().data()), segment.image().size()};
}

// The bytes are those that reading the Lucene segment gives.
void CheckReadBack(const std::vector<LiveSegment>& read, const std::vector<BulkSegment>& made) {
  for (const BulkSegment& segment : made) {
    const auto same = std::find_if(read.begin(), read.end(),
                                   [&](const LiveSegment& s) { return s.postings->name() == segment.name; });
    REQUIRE(same != read.end());
    REQUIRE(same->postings->doc_count() == segment.documents);
    CHECK(Image(*same->postings) == Image(*segment.compiled));
  }
}

TEST_CASE("a segment of a bulk load is, byte for byte, the one that Lucene++ writes") {
  std::mt19937 random(1);
  TempFolder folder;
  for (int round = 0; round < 3; ++round) {
    const fs::path theirs = folder.path() / absl::StrCat("theirs", round),
                   ours = folder.path() / absl::StrCat("ours", round);
    fs::create_directories(ours);
    auto lucene = LuceneSegments::Create(theirs);
    REQUIRE(lucene.ok());
    // In one run, and in several, which become one segment.
    BulkPart part(ours, 0, {.table_bytes = round == 0 ? size_t{64} << 20 : 100'000});
    std::vector<ItemOrdinal> items(5000);
    for (ItemOrdinal i = 0; i < items.size(); ++i) items[i] = i * 3;
    if (round > 0) std::shuffle(items.begin(), items.end(), random);
    for (ItemOrdinal item : items) {
      BulkDocument document = RandomBulkDocument(&random, item);
      if (round == 2) document.fields.clear();
      REQUIRE((*lucene)->Put(item, document.fields, false).ok());
      REQUIRE(part.Put(item, document.fields).ok());
    }
    REQUIRE((*lucene)->Commit({}).ok());
    const std::vector<BulkSegment> segments = FinishPart(&part);
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].name == "_0");
    const std::set<std::string> files(segments[0].files.begin(), segments[0].files.end());
    CHECK(NamesIn(ours) == files);
    std::set<std::string> expected;
    for (const std::string& name : NamesIn(theirs)) {
      if (name.starts_with("_0.")) expected.insert(name);
    }
    CHECK(files == expected);
    for (const std::string& file : files) {
      INFO(file);
      CHECK(BytesOf(ours / file) == BytesOf(theirs / file));
    }
  }
}

TEST_CASE("segments of bulk loads live on in an index: read, deleted from, merged with others") {
  std::mt19937 random(2);
  TempFolder folder;
  auto lucene = LuceneSegments::Create(folder.path() / "index");
  REQUIRE(lucene.ok());
  BulkContents expected;
  const auto put = [&](ItemOrdinal item, bool replaces) {
    const BulkDocument document = RandomBulkDocument(&random, item);
    REQUIRE((*lucene)->Put(item, document.fields, replaces).ok());
    SetContents(document, &expected);
  };
  for (ItemOrdinal item = 0; item < 300; ++item) put(item, false);
  ItemOrdinal next = 300;
  for (int load = 0; load < 3; ++load) {
    const fs::path part_folder = folder.path() / "part";
    fs::create_directories(part_folder);
    const auto first_segment = (*lucene)->BeginParts();
    REQUIRE(first_segment.ok());
    BulkPart part(part_folder, *first_segment, load == 1 ? kSmall : BulkPartLimits());
    for (const ItemOrdinal end = next + 700; next < end; ++next) {
      const BulkDocument document = RandomBulkDocument(&random, next);
      REQUIRE(part.Put(next, document.fields).ok());
      SetContents(document, &expected);
    }
    const std::vector<BulkSegment> made = FinishPart(&part);
    CHECK((load == 1) == (made.size() > 1));
    REQUIRE((*lucene)->Adopt(made).ok());
    CHECK(NamesIn(part_folder).empty());
    CheckReadBack(*(*lucene)->Refresh({}), made);
    for (int i = 0; i < 100; ++i) {
      const auto item = static_cast<ItemOrdinal>(random() % next);
      if (random() % 2 == 0) {
        put(item, true);
      } else {
        REQUIRE((*lucene)->Delete(item).ok());
        expected.erase(item);
      }
    }
    REQUIRE((*lucene)->Commit({}).ok());
  }
  for (const bool merged : {false, true}) {
    if (merged) REQUIRE((*lucene)->Merge().ok());
    const auto segments = (*lucene)->Refresh({});
    REQUIRE(segments.ok());
    CHECK((segments->size() == 1) == merged);
    BulkContents found;
    for (const LiveSegment& segment : *segments) AddContents(*segment.postings, segment.live.get(), &found);
    CHECK(found == expected);
  }
}

TEST_CASE("of an item that came several times in one bulk load the last version counts") {
  std::mt19937 random(3);
  TempFolder folder;
  for (int round = 0; round < 6; ++round) {
    BulkPart part(folder.path(), 100 * round, round % 2 == 0 ? BulkPartLimits() : kSmall);
    BulkContents expected;
    for (int i = 0; i < 1500; ++i) {
      // In the end nothing is left of the last rounds.
      const auto item = static_cast<ItemOrdinal>(random() % 400);
      if (random() % 5 == 0) {
        part.Delete(item);
        expected.erase(item);
      } else {
        const BulkDocument document = RandomBulkDocument(&random, item);
        REQUIRE(part.Put(item, document.fields).ok());
        SetContents(document, &expected);
      }
    }
    for (ItemOrdinal item = 0; item < 400 && round >= 4; ++item) part.Delete(item);
    if (round >= 4) expected.clear();
    const std::vector<BulkSegment> segments = FinishPart(&part);
    BulkContents found;
    size_t documents = 0;
    std::set<std::string> files;
    for (const BulkSegment& segment : segments) {
      AddContents(*segment.compiled, nullptr, &found);
      documents += segment.documents;
      files.insert(segment.files.begin(), segment.files.end());
    }
    CHECK(found == expected);
    CHECK(documents == expected.size());
    CHECK(segments.empty() == (round >= 4));
    CHECK(NamesIn(folder.path()) == files);  // no run is left

    auto lucene = LuceneSegments::Create(folder.path() / absl::StrCat("index", round));
    REQUIRE(lucene.ok());
    REQUIRE((*lucene)->Adopt(segments).ok());
    CheckReadBack(*(*lucene)->Refresh({}), segments);
    lucene->reset();
    fs::remove_all(folder.path() / absl::StrCat("index", round));
  }
}

TEST_CASE("a bulk load of nothing makes no segment") {
  TempFolder folder;
  BulkPart part(folder.path(), 0);
  part.Delete(3);
  CHECK(FinishPart(&part).empty());
  CHECK(NamesIn(folder.path()).empty());
}

TEST_CASE("a bulk load on a full disk says which file could not be written") {
  std::mt19937 random(4);
  SmallDisk disk("size=1m");
  if (!disk.mounted()) return;
  disk.Fill();
  for (const BulkPartLimits& limits : {BulkPartLimits(), kSmall}) {
    BulkPart part(disk.path(), 0, limits);
    absl::Status status;
    for (ItemOrdinal item = 0; item < 2000 && status.ok(); ++item) {
      status = part.Put(item, RandomBulkDocument(&random, item).fields);
    }
    if (status.ok()) status = part.Finish().status();
    const std::string message(status.message());
    CHECK(message.find((disk.path() / "run-0").string()) != std::string::npos);
    CHECK(message.find("No space left") != std::string::npos);
  }
  // The run fits, the segment does not.
  disk.Free();
  BulkPart part(disk.path(), 0);
  for (ItemOrdinal item = 0; item < 8000; ++item) {
    REQUIRE(part.Put(item, RandomBulkDocument(&random, item).fields).ok());
  }
  const std::string message(part.Finish().status().message());
  INFO(message);
  CHECK(message.find((disk.path() / "_0.").string()) != std::string::npos);
  CHECK(message.find("No space left") != std::string::npos);
}

TEST_CASE("any damage to a run is found, and does no harm") {
  std::mt19937 random(5);
  TempFolder folder;
  TermPostingsTable table;
  for (DocNumber doc = 0; doc < 8; ++doc) {
    const BulkDocument document = RandomBulkDocument(&random, doc);
    for (uint32_t field = 0; field < document.fields.size(); ++field) {
      table.Add(field, doc, document.fields[field].terms);
    }
  }
  const fs::path path = folder.path() / "run";
  std::vector<std::unique_ptr<PostingRun>> runs;
  runs.push_back(*PostingRun::Write(table, path, 0, 8));
  REQUIRE(runs[0]->Open().ok());
  const auto read = [&] {
    size_t places = 0;
    for (uint32_t field = 0; runs[0]->HasField(field); ++field) {
      MergedTerms terms(runs, field, 1 << 16);
      while (true) {
        if (absl::Status status = terms.Next(); !status.ok()) return status;
        if (terms.done()) break;
        while (terms.NextDocument()) {
          if (terms.doc() >= 8) return absl::InternalError("a document out of range");
          places += terms.positions().size();
        }
      }
    }
    return places > 0 ? absl::OkStatus() : absl::InternalError("nothing was read");
  };
  REQUIRE(read().ok());
  const std::string bytes = BytesOf(path);
  REQUIRE(bytes.size() > 200);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int mask : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      std::ofstream(path, std::ios::binary) << damaged;  // the same file, which the run has open
      INFO(i << " " << mask);
      REQUIRE(absl::IsDataLoss(read()));
    }
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  CHECK(absl::IsDataLoss(read()));
}

}  // namespace
}  // namespace waymark::tests
