#include "candidates/content_signals.h"

#include <cmath>

#include "candidates/item_directory.h"
#include "tests/catalog/shop.h"

namespace waymark {
namespace {

using tests::Folder;
using tests::Shop;

float Of(const Candidate& candidate, Signal signal) { return Get(candidate.signals, signal); }

std::vector<Candidate> CandidatesOf(const Shop& shop, const std::vector<std::string>& ids) {
  std::vector<Candidate> candidates;
  for (const std::string& id : ids) candidates.push_back({.item = shop.Ordinal(id)});
  return candidates;
}

RequestContext After(const Shop& shop, const std::vector<std::string>& history, absl::Time now) {
  RequestContext context{.scope = shop.scope, .now = now};
  for (const std::string& id : history) context.history.push_back({.item = shop.Ordinal(id)});
  return context;
}

TEST_CASE("Content signals equal those worked out by hand") {
  Folder folder;
  FixedClock clock(absl::FromUnixSeconds(1000000000));
  Shop shop(folder.path(), &clock);
  shop.Put("toy1", R"({"title": "Toy Story", "genres": ["Animation", "Comedy"], "year": 1995})");
  shop.Put("toy2", R"({"title": "Toy Story 2", "genres": ["Animation", "Comedy"], "year": 1999})");
  shop.Put("heat", R"({"title": "Heat", "genres": ["Crime"], "year": 1995})");
  shop.Put("thing", R"({"title": "The Thing", "genres": ["Horror"], "year": 1982})");
  shop.Put("bare", "{}");
  const absl::Time now = absl::FromUnixSeconds(1000000000) + absl::Hours(24 * 9);

  // Category mass of the history: Animation 1, Comedy 1, Crime 4, Horror 1, of 7.
  const RequestContext context = After(shop, {"toy1", "heat", "heat", "heat", "heat", "thing", "bare"}, now);
  std::vector<Candidate> candidates = CandidatesOf(shop, {"toy2", "heat", "bare"});
  const ContentSignals signals(shop.catalog.get());
  signals.Fill(context, absl::MakeSpan(candidates));

  CHECK(Of(candidates[0], Signal::kCategoryAffinity) == Approx(2.0 / 7));
  CHECK(Of(candidates[1], Signal::kCategoryAffinity) == Approx(4.0 / 7));
  CHECK(std::isnan(Of(candidates[2], Signal::kCategoryAffinity)));
  // The last 5 are heat, heat, heat, thing, bare: Crime 3, Horror 1, of 4.
  CHECK(Of(candidates[0], Signal::kCategoryAffinityLast5) == 0);
  CHECK(Of(candidates[1], Signal::kCategoryAffinityLast5) == Approx(3.0 / 4));
  // {toy, story, 2} and {toy, story}: 2 of 3 words.
  CHECK(Of(candidates[0], Signal::kTitleOverlap) == Approx(2.0 / 3));
  CHECK(Of(candidates[1], Signal::kTitleOverlap) == 1);
  CHECK(std::isnan(Of(candidates[2], Signal::kTitleOverlap)));
  // Years of the history: 1982, 1995 five times; the bare item has none. The middle is 1995.
  CHECK(Of(candidates[0], Signal::kYear) == 1999);
  CHECK(Of(candidates[0], Signal::kYearDistance) == 4);
  CHECK(std::isnan(Of(candidates[2], Signal::kYearDistance)));
  CHECK(Of(candidates[0], Signal::kItemAge) == Approx(std::log(10.0)));
  // Nothing else is touched.
  CHECK(std::isnan(Of(candidates[0], Signal::kKeywordScore)));
}

TEST_CASE("The median of an even number of years lies between the middle two") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"year": 1990})");
  shop.Put("b", R"({"year": 2001})");
  std::vector<Candidate> candidates = CandidatesOf(shop, {"a"});
  ContentSignals(shop.catalog.get()).Fill(After(shop, {"a", "b"}, absl::Now()), absl::MakeSpan(candidates));
  CHECK(Of(candidates[0], Signal::kYearDistance) == 5.5f);
}

TEST_CASE("Without a history only year and age are known") {
  Folder folder;
  FixedClock clock(absl::FromUnixSeconds(1000000000));
  Shop shop(folder.path(), &clock);
  shop.Put("a", R"({"title": "Heat", "genres": ["Crime"], "year": 1995})");
  std::vector<Candidate> candidates = CandidatesOf(shop, {"a"});
  candidates.push_back({.item = 12345});
  const ContentSignals signals(shop.catalog.get());
  // The request's time lies before the write, as in training on an imported history.
  signals.Fill(After(shop, {}, absl::FromUnixSeconds(900000000)), absl::MakeSpan(candidates));
  CHECK(std::isnan(Of(candidates[0], Signal::kCategoryAffinity)));
  CHECK(std::isnan(Of(candidates[0], Signal::kTitleOverlap)));
  CHECK(std::isnan(Of(candidates[0], Signal::kYearDistance)));
  CHECK(Of(candidates[0], Signal::kYear) == 1995);
  CHECK(Of(candidates[0], Signal::kItemAge) == 0);
  CHECK(std::isnan(Of(candidates[1], Signal::kItemAge)));

  // A first event that is older than the write says how old the item is.
  const ContentSignals older(shop.catalog.get(),
                             [](absl::Span<const ItemOrdinal>, absl::Span<absl::Time> times) {
                               times[0] = absl::FromUnixSeconds(900000000 - 86400);
                             });
  older.Fill(After(shop, {}, absl::FromUnixSeconds(900000000)), absl::MakeSpan(candidates));
  CHECK(Of(candidates[0], Signal::kItemAge) == Approx(std::log(2.0)));
  CHECK(std::isnan(Of(candidates[1], Signal::kItemAge)));
}

TEST_CASE("A directory of a live collection names items and their content") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"title": "Toy Story", "genres": ["Comedy"]})");
  shop.Put("b", "{}");
  shop.Write({DeleteItem{"b"}});
  const CatalogDirectory directory(shop.store.get(), shop.scope, shop.catalog.get());
  const ItemOrdinal a = *directory.Find("a"), b = *directory.Find("b");
  CHECK_FALSE(directory.Find("c").has_value());
  CHECK(directory.Ids(std::vector<ItemOrdinal>{b, a}) == std::vector<std::string>{"b", "a"});
  CHECK(directory.End() == 2);
  CHECK(directory.Live(a));
  CHECK_FALSE(directory.Live(b));
  std::vector<std::vector<uint64_t>> hashes;
  directory.Content(std::vector<ItemOrdinal>{a, b}, &hashes);
  CHECK(hashes[0].size() == 3);
  CHECK(hashes[0].back() == 0x8080dd6f2316ea4aULL);
  CHECK(hashes[1].empty());
}

}  // namespace
}  // namespace waymark
