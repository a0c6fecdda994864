#include "tests/index/random_corpus.h"

#include <algorithm>
#include <map>

#include "index/compiled_segment.h"

namespace waymark::tests {
namespace {

LiveSegment Compile(const std::vector<RandomDocument>& documents, size_t fields) {
  std::map<std::string, std::map<DocNumber, std::map<uint32_t, std::vector<int32_t>>>> postings;
  std::vector<ItemOrdinal> ordinals;
  for (DocNumber doc = 0; doc < documents.size(); ++doc) {
    ordinals.push_back(documents[doc].item);
    for (uint32_t f = 0; f < fields; ++f) {
      const Words& words = documents[doc].fields[f];
      for (size_t i = 0; i < words.size(); ++i)
        postings[absl::StrCat("w", words[i])][doc][f].push_back(static_cast<int32_t>(i));
    }
  }
  std::vector<std::string> names;
  for (size_t f = 0; f < fields; ++f) names.push_back(absl::StrCat("f", f));
  CompiledSegmentBuilder builder("_0", names, ordinals);
  for (const auto& [word, by_document] : postings) {
    builder.StartTerm(word);
    for (const auto& [doc, by_field] : by_document) {
      for (const auto& [field, positions] : by_field) builder.Add(doc, field, positions);
    }
  }
  auto compiled = builder.Finish();
  auto live =
      std::make_shared<LiveDocuments>(compiled, [&](DocNumber doc) { return documents[doc].deleted; });
  return {compiled, live};
}

}  // namespace

RandomCorpus::RandomCorpus(unsigned seed) : random(seed), words(5 + random() % 60) {
  const size_t fields = 1 + seed % 3;
  const bool in_order = random() % 2, deletions = random() % 3 != 0;
  const DocNumber documents = 200 + random() % 2000;
  std::vector<ItemOrdinal> items(documents);
  for (DocNumber i = 0; i < documents; ++i) items[i] = i * 2;
  if (!in_order) std::shuffle(items.begin(), items.end(), random);
  segments.resize(1 + random() % 4);
  const unsigned longest = 1 + random() % 30;
  for (DocNumber i = 0; i < documents; ++i) {
    RandomDocument document{items[i], std::vector<Words>(fields), deletions && random() % 4 == 0};
    for (Words& field : document.fields) {
      for (unsigned n = random() % longest; n > 0; --n) field.push_back(Word());
      for (int word : field) document.holds |= uint64_t{1} << word;
    }
    segments[random() % segments.size()].push_back(std::move(document));
  }
  IndexedFields indexed;
  const std::vector<double> weights = {1, seed % 2 == 0 ? 1 : 2.5, 0.25};
  for (size_t f = 0; f < fields; ++f) indexed.fields.push_back({absl::StrCat("f", f), weights[f], f == 0});
  // The last field has an analysis of its own, of another name and with the same words.
  if (seed % 4 == 3 && fields > 1)
    indexed.fields.back().analysis = AnalysisSettings{StemmerKind::kNone, true};
  std::vector<LiveSegment> live;
  for (const auto& segment : segments) live.push_back(Compile(segment, fields));
  snapshot = MakeSnapshot({StemmerKind::kNone, false}, indexed, live, Bm25Options(), 1, nullptr);
}

}  // namespace waymark::tests
