// Segments of a bulk load through Lucene++'s own readers.
#include "index/lucene_names_impl.h"
// Behind it.
#include <lucene++/CheckIndex.h>

#include <map>

#include "index/bulk_part.h"
#include "tests/index/bulk_documents.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Lucene::newLucene;

// term -> documents
std::map<std::string, std::vector<int32_t>> DocumentsOf(const std::vector<BulkDocument>& documents,
                                                        const std::string& field) {
  std::map<std::string, std::vector<int32_t>> by_term;
  for (size_t doc = 0; doc < documents.size(); ++doc) {
    for (const FieldTerms& terms : documents[doc].fields) {
      for (size_t i = 0; terms.field == field && i < terms.terms.size(); ++i) {
        auto& list = by_term[std::string(terms.terms.term(i))];
        if (list.empty() || list.back() != static_cast<int32_t>(doc))
          list.push_back(static_cast<int32_t>(doc));
      }
    }
  }
  return by_term;
}

TEST_CASE("Lucene++ finds a bulk load's segment whole, each of its terms, and skips in their documents") {
  std::mt19937 random(1);
  TempFolder folder;
  const auto index = folder.path() / "index";
  auto lucene = LuceneSegments::Create(index);
  REQUIRE(lucene.ok());
  const auto first_segment = (*lucene)->BeginParts();
  REQUIRE(first_segment.ok());
  BulkPart part(folder.path(), *first_segment);
  std::vector<BulkDocument> documents;
  for (ItemOrdinal item = 0; item < 6000; ++item) {
    documents.push_back(RandomBulkDocument(&random, item));
    REQUIRE(part.Put(item, documents.back().fields).ok());
  }
  const auto made = part.Finish();
  REQUIRE(made.ok());
  REQUIRE(made->size() == 1);
  REQUIRE((*lucene)->Adopt(*made).ok());
  REQUIRE((*lucene)->Commit({}).ok());
  lucene->reset();

  const Lucene::DirectoryPtr directory = Lucene::FSDirectory::open(lucene_impl::Wide(index.string()));
  CHECK(newLucene<Lucene::CheckIndex>(directory)->checkIndex()->clean);
  const Lucene::IndexReaderPtr reader = Lucene::IndexReader::open(directory, true);
  CHECK(reader->numDocs() == 6000);
  CHECK(reader->document(5999)->getFields().size() == 0);
  for (const std::string field : {"title", "text", "a"}) {
    const Lucene::String wide_field = lucene_impl::kTextFieldPrefix + lucene_impl::Wide(field);
    for (const auto& [text, expected] : DocumentsOf(documents, field)) {
      const auto term = newLucene<Lucene::Term>(wide_field, lucene_impl::Wide(text));
      REQUIRE(reader->docFreq(term) == static_cast<int32_t>(expected.size()));
      const Lucene::TermDocsPtr found = reader->termDocs(term);
      for (int32_t target = 0; target < 6000;) {
        const auto next = std::lower_bound(expected.begin(), expected.end(), target);
        REQUIRE(found->skipTo(target) == (next != expected.end()));
        if (next == expected.end()) break;
        REQUIRE(found->doc() == *next);
        target = *next + 1 + static_cast<int32_t>(random() % (random() % 3 == 0 ? 2000 : 40));
      }
    }
  }
  for (ItemOrdinal item : {0, 127, 128, 129, 5999}) {
    const Lucene::TermDocsPtr found =
        reader->termDocs(newLucene<Lucene::Term>(lucene_impl::kOrdinalField, lucene_impl::OrdinalText(item)));
    REQUIRE(found->next());
    CHECK(found->doc() == static_cast<int32_t>(item));
    CHECK_FALSE(found->next());
  }
  reader->close();
}

}  // namespace
}  // namespace waymark::tests
