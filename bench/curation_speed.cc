// What synonyms and rules cost: 100,000 and 10,000 of them, in microseconds a query, and what a write among
// them takes until it is durable and serves.
//
//   build/release/bin/curation_speed [synonyms] [rules]
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "curation/live_curation.h"
#include "curation/query_terms.h"
#include "index/query_parser.h"

namespace waymark {
namespace {

constexpr size_t kBatch = 500, kQueries = 20'000;

struct Words {
  std::mt19937 random{7};
  // Of 60,000, skewed: a few are in very many phrases.
  std::string Word() {
    const double u = std::generate_canonical<double, 32>(random);
    return absl::StrCat("w", static_cast<int>(60'000 * u * u));
  }
  std::string Phrase(unsigned most) {
    std::string text = Word();
    for (unsigned n = random() % most; n > 0; --n) absl::StrAppend(&text, " ", Word());
    return text;
  }
};

CurationWrite MakeSynonym(size_t i, Words* words) {
  CurationWrite write{CurationKind::kSynonym, absl::StrCat("s", i), storage::CurationRecord(), {}};
  for (int n = 0; n < 3; ++n) write.record->mutable_synonym()->add_words(words->Phrase(3));
  return write;
}

CurationWrite MakeRule(size_t i, Words* words) {
  CurationWrite write{CurationKind::kRule, absl::StrCat("r", i), storage::CurationRecord(), {}};
  storage::RuleRecord& rule = *write.record->mutable_rule();
  rule.set_match(i % 3 == 0 ? storage::RuleRecord::EXACT : storage::RuleRecord::CONTAINS);
  rule.set_query(words->Phrase(3));
  rule.set_redirect_uri("/x");
  return write;
}

void Put(LiveCuration* curation, size_t count, CurationWrite (*make)(size_t, Words*), Words* words) {
  std::vector<CurationWrite> batch;
  for (size_t i = 0; i < count; ++i) {
    batch.push_back(make(i, words));
    if (batch.size() < kBatch && i + 1 < count) continue;
    auto written = curation->Write(std::move(batch));
    if (!written.ok()) std::fprintf(stderr, "%s\n", written.status().ToString().c_str());
    batch.clear();
  }
}

template <class Do>
double MicrosecondsEach(const std::vector<std::string>& queries, Do ask) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const absl::Time start = absl::Now();
    for (const std::string& query : queries) ask(query);
    best =
        std::min(best, absl::ToDoubleMicroseconds(absl::Now() - start) / static_cast<double>(queries.size()));
  }
  return best;
}

void Measure(LiveCuration* curation, Words* words) {
  const auto now = curation->snapshot();
  const auto view = std::make_shared<const SynonymView>(SynonymView{now->synonyms, ""});
  const google::protobuf::Struct context;
  for (const int length : {1, 3, 6, 20}) {
    std::vector<std::string> queries(kQueries);
    for (std::string& query : queries) {
      for (int n = 0; n < length; ++n) absl::StrAppend(&query, n == 0 ? "" : " ", words->Word());
    }
    size_t widened = 0, held = 0, terms = 0;
    const double plain = MicrosecondsEach(queries, [&](const std::string& query) {
      terms += ParseQuery(query, now->analyzer, false).terms.size();
    });
    const double parsed = MicrosecondsEach(queries, [&](const std::string& query) {
      widened += ParseQuery(query, now->analyzer, false, view.get()).synonyms.size();
    });
    const double matched = MicrosecondsEach(queries, [&](const std::string& query) {
      held += now->rules.Match({QueryTerms(query, now->analyzer), &context, absl::UnixEpoch()}).size();
    });
    std::printf("%2d words: parse %.2f us, with synonyms %.2f us (%.2f places), rules %.2f us (%.2f hold)\n",
                length, plain, parsed, static_cast<double>(widened) / 3 / kQueries, matched,
                static_cast<double>(held) / 3 / kQueries);
  }
}

int Main(int argc, char** argv) {
  const size_t synonyms = argc > 1 ? std::stoul(argv[1]) : 100'000,
               rules = argc > 2 ? std::stoul(argv[2]) : 10'000;
  const auto folder = std::filesystem::temp_directory_path() / absl::StrCat("waymark-curation-", getpid());
  {
    auto store = Store::Open(folder, {});
    if (!store.ok()) {
      std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
      return 1;
    }
    const auto scope = (*store)->CreateCollection({});
    auto catalog = Catalog::Open(store->get(), *scope);
    auto curation = LiveCuration::Open(store->get(), *scope, catalog->get());
    Words words;
    absl::Time start = absl::Now();
    Put(curation->get(), synonyms, MakeSynonym, &words);
    std::printf("%zu synonyms in batches of %zu: %.1f s\n", synonyms, kBatch,
                absl::ToDoubleSeconds(absl::Now() - start));
    start = absl::Now();
    Put(curation->get(), rules, MakeRule, &words);
    std::printf("%zu rules: %.1f s\n", rules, absl::ToDoubleSeconds(absl::Now() - start));
    start = absl::Now();
    for (size_t i = 0; i < 100; ++i) {
      std::vector<CurationWrite> one;
      one.push_back(MakeSynonym(i, &words));
      (void)(*curation)->Write(std::move(one));
    }
    std::printf("one write, durable and served: %.2f ms\n",
                absl::ToDoubleMilliseconds(absl::Now() - start) / 100);
    start = absl::Now();
    curation = LiveCuration::Open(store->get(), *scope, catalog->get());
    std::printf("read and compiled at start: %.2f s\n", absl::ToDoubleSeconds(absl::Now() - start));
    Measure(curation->get(), &words);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
