#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "index/letters.h"
#include "suggest/complete.h"
#include "suggest/completion_text.h"
#include "suggest/suggestion_checkpoint.h"
#include "suggest/typo_ranges.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Texts = std::vector<std::string>;

Texts Completed(const CompletionList& list, const std::string& typed, const CompleteOptions& options = {},
                const std::set<CompletionEntry>& hidden = {}) {
  Texts texts;
  const auto shown = [&](CompletionEntry e) { return !hidden.contains(e); };
  const Completions found = Complete(list, TypedOf(typed), options, Deadline::Never(), shown);
  CHECK(found.complete);
  for (const Completion& c : found.best) texts.emplace_back(list.text(c.entry));
  return texts;
}

std::shared_ptr<const CompletionList> Films() {
  return CompletionList::Build({{"Star Wars", 10, 1},
                                {"Star Trek", 20, 2},
                                {"A Star Is Born", 50, 3},
                                {"A Star Is Born", 30, 4},
                                {"Starship Troopers", 3, 5},
                                {"Stardust", 0, 6},
                                {"It", 1, 7},
                                {"It Happened One Night", 90, 8},
                                {"Schindler's List", 40, 9}});
}

TEST_CASE("any word of a text is a beginning, and the beginning of the text counts four times") {
  const auto films = Films();
  // 4 * 21, 1 + 50, 4 * 11, 4 * 4, 4 * 1
  CHECK(Completed(*films, "sta") ==
        Texts{"Star Trek", "A Star Is Born", "Star Wars", "Starship Troopers", "Stardust"});
  CHECK(Completed(*films, "star ") == Texts{"Star Trek", "A Star Is Born", "Star Wars"});
  CHECK(Completed(*films, "STAR w") == Texts{"Star Wars"});
  CHECK(Completed(*films, "one ni") == Texts{"It Happened One Night"});
  CHECK(Completed(*films, "sta", {.limit = 2}) == Texts{"Star Trek", "A Star Is Born"});
  CHECK(Completed(*films, "trek star").empty());
}

TEST_CASE("a text that is what was typed comes first, whatever begins so") {
  CHECK(Completed(*Films(), "it") == Texts{"It", "It Happened One Night"});
  CHECK(Completed(*Films(), "it ") == Texts{"It", "It Happened One Night"});
}

TEST_CASE("an entry holds the items with its text, the heaviest first") {
  const auto films = Films();
  for (CompletionEntry e = 0; e < films->entry_count(); ++e) {
    if (films->text(e) != "A Star Is Born") continue;
    CHECK(films->items(e) == absl::Span<const ItemOrdinal>({3, 4}));
    CHECK(films->weight(e) == 50);
  }
  CHECK(films->entry_count() == 8);
}

TEST_CASE("typing errors are put right where nothing begins as it was typed, or behind what does") {
  const auto films = Films();
  CHECK(Completed(*films, "satr w") == Texts{"Star Wars"});    // two letters changed places
  CHECK(Completed(*films, "starwars") == Texts{"Star Wars"});  // a missing blank
  CHECK(Completed(*films, "schindlers l") == Texts{"Schindler's List"});
  CHECK(Completed(*films, "shcindelr") == Texts{"Schindler's List"});  // two errors
  CHECK(Completed(*films, "satr", {.typos = TypoTolerance::kOff}).empty());
  CHECK(Completed(*films, "xtar").empty());  // of four letters the first must be right
  CHECK(Completed(*films, "xtar w") == Texts{"Star Wars"});
  CHECK(Completed(*films, "stardu", {.typos = TypoTolerance::kAuto}) == Texts{"Stardust"});
  CHECK(Completed(*films, "stard") == Texts{"Stardust"});
  // «star» is «stard» with a letter less.
  CHECK(Completed(*films, "stard", {.typos = TypoTolerance::kAlways}) ==
        Texts{"Stardust", "Star Trek", "A Star Is Born", "Star Wars", "Starship Troopers"});
}

TEST_CASE("nothing typed gives the heaviest; no words give nothing") {
  CHECK(Completed(*Films(), "", {.limit = 3}) ==
        Texts{"It Happened One Night", "A Star Is Born", "Schindler's List"});
  CHECK(Completed(*Films(), "", {.limit = 1}) == Texts{"It Happened One Night"});
  CHECK(Completed(*Films(), "?!  ").empty());
  CHECK(Completed(*Films(), "🎬").empty());
  CHECK(Completed(*CompletionList::Build({}), "a").empty());
  CHECK(Completed(*CompletionList::Build({}), "").empty());
}

TEST_CASE("texts without words and long ones are left out") {
  const auto list = CompletionList::Build({{"!!!", 9, 1},
                                           {std::string(kMaxCompletionBytes + 1, 'a'), 9, 2},
                                           {std::string(kMaxCompletionBytes, 'b'), 9, 3}});
  CHECK(list->entry_count() == 1);
  CHECK(Completed(*list, "bbb").size() == 1);
}

// --- beside a search through all texts

struct RandomList {
  explicit RandomList(uint32_t seed, size_t texts) : random(seed) {
    static const char* const kWords[] = {"ab", "abc", "ba", "b", "cab", "ca", "é", "éa", "bc", "abba"};
    for (size_t i = 0; i < texts; ++i) {
      std::string text;
      for (size_t w = 1 + random() % 4; w > 0; --w) {
        text += kWords[random() % 10];
        if (w > 1) text += random() % 8 == 0 ? " - " : " ";
      }
      sources.push_back({text, static_cast<float>(random() % 6), static_cast<ItemOrdinal>(i)});
    }
    list = CompletionList::Build(sources);
  }
  std::mt19937 random;
  std::vector<CompletionSource> sources;
  std::shared_ptr<const CompletionList> list;
};

// Every place of a word at which the folded text goes on as `prefix`.
std::vector<size_t> Places(std::string_view folded, std::string_view prefix) {
  std::vector<size_t> places;
  for (size_t at = 0; at < folded.size(); ++at) {
    if ((at == 0 || folded[at - 1] == ' ') && folded.substr(at).starts_with(prefix)) places.push_back(at);
  }
  return places;
}

Texts BruteForce(const RandomList& random, const std::string& typed, size_t limit,
                 const std::set<std::string>& hidden) {
  const Typed folded = TypedOf(typed);
  std::map<std::string, float> weights;
  for (const CompletionSource& source : random.sources) {
    float& weight = weights[source.text];
    weight = std::max(weight, source.weight);
  }
  std::vector<std::tuple<bool, double, bool, float, size_t, std::string>> ranked;
  for (const auto& [text, weight] : weights) {
    if (hidden.contains(text)) continue;
    const std::string lower = FoldForCompletion(text).folded;
    const std::vector<size_t> places = Places(lower, folded.prefix);
    const bool whole = lower == folded.words;
    if (places.empty() && !whole) continue;
    const bool start = whole || places.front() == 0;
    ranked.emplace_back(!whole, -(std::log2(1 + static_cast<double>(weight)) + (start ? 2 : 0)), !start,
                        -weight, lower.size(), text);
  }
  std::sort(ranked.begin(), ranked.end());
  Texts texts;
  for (const auto& entry : ranked) {
    if (texts.size() < limit) texts.push_back(std::get<5>(entry));
  }
  return texts;
}

TEST_CASE(
    "the tree finds what a look at every text finds, with weights that tie and entries that are hidden") {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    RandomList random(seed, 20 + seed * 40);
    for (const std::string typed :
         {"a", "ab", "abc", "b", "ab b", "ab ", "é", "éa c", "ca", "cab ab", "abba b", "x", "ba-"}) {
      for (const size_t limit : {size_t{1}, size_t{7}, size_t{1000}}) {
        std::set<CompletionEntry> hidden;
        std::set<std::string> hidden_texts;
        for (CompletionEntry e = 0; e < random.list->entry_count(); ++e) {
          if (random.random() % 3 != 0) continue;
          hidden.insert(e);
          hidden_texts.emplace(random.list->text(e));
        }
        INFO("seed " << seed << " typed '" << typed << "' limit " << limit);
        CHECK(Completed(*random.list, typed, {.limit = limit, .typos = TypoTolerance::kOff}, hidden) ==
              BruteForce(random, typed, limit, hidden_texts));
      }
    }
  }
}

// The fewest errors between `typed` and any beginning of `text`.
int PrefixDistance(std::string_view text, std::string_view typed) {
  const std::u32string letters = Letters(text), wanted = Letters(typed);
  int best = 100;
  for (size_t n = 0; n <= letters.size(); ++n) {
    best = std::min(best, EditDistance(std::u32string_view(letters).substr(0, n), wanted));
  }
  return best;
}

TEST_CASE("the walk over typing errors finds every beginning that is near enough, and no other") {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    RandomList random(seed, 150);
    for (const std::string typed : {"abcab", "bac a", "cabb", "éa ab", "abba abc", "bbbbb"}) {
      for (const int edits : {1, 2}) {
        const TypoRanges found = FindTypoRanges(*random.list, typed, {.max_edits = edits});
        REQUIRE(found.complete);
        std::set<size_t> in_ranges;
        for (const TypoRange& typo : found.ranges) {
          for (size_t i = typo.range.begin; i < typo.range.end; ++i) CHECK(in_ranges.insert(i).second);
        }
        INFO("seed " << seed << " typed " << typed << " edits " << edits);
        for (size_t i = 0; i < random.list->size(); ++i) {
          CHECK((PrefixDistance(random.list->beginning(i), typed) <= edits) == in_ranges.contains(i));
        }
      }
    }
  }
}

TEST_CASE("a walk that would take too long is cut short and says so") {
  RandomList random(7, 5000);
  CHECK(!FindTypoRanges(*random.list, "bacabacaba", {.max_edits = 2, .max_looks = 50}).complete);
}

// --- on the disk

struct Folder {
  Folder() {
    static int number = 0;
    path = std::filesystem::temp_directory_path() /
           ("waymark-suggest-" + std::to_string(getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

SuggestionLists SomeLists() {
  SuggestionLists lists;
  lists.position = 77;
  lists.fields = {{"title"}, {"genres"}};
  lists.titles.push_back({"title", Films()});
  lists.values.push_back({"genres", CompletionList::Build({{"Drama", 4, kNoItem}})});
  return lists;
}

TEST_CASE("lists are the same after they were written and read") {
  Folder folder;
  REQUIRE(SaveLists(folder.path, SomeLists()).ok());
  const auto read = LoadLists(folder.path);
  REQUIRE(read.ok());
  CHECK((*read)->position == 77);
  CHECK((*read)->fields == SomeLists().fields);
  CHECK(Completed(*(*read)->titles.at(0).list, "sta") == Completed(*Films(), "sta"));
  CHECK(Completed(*(*read)->values.at(0).list, "d") == Texts{"Drama"});
}

TEST_CASE("a file with any byte changed, or cut short, is known for damaged and set aside") {
  Folder folder;
  REQUIRE(SaveLists(folder.path, SomeLists()).ok());
  std::string bytes;
  {
    std::ifstream in(folder.path / kListsFile, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto write = [&](const std::string& content) {
    std::ofstream(folder.path / kListsFile, std::ios::binary) << content;
  };
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    write(damaged);
    CHECK(!LoadLists(folder.path).ok());
    write(bytes.substr(0, at));
    CHECK(!LoadLists(folder.path).ok());
  }
  const absl::Status error = LoadLists(folder.path).status();
  CHECK_THAT(SetAsideFile(folder.path, kListsFile, error), Catch::Contains("lists"));
  CHECK(std::filesystem::exists(folder.path / "lists.damaged"));
  CHECK(absl::IsNotFound(LoadLists(folder.path).status()));
  CHECK(SetAsideFile(folder.path, kListsFile, LoadLists(folder.path).status()).empty());
}

}  // namespace
}  // namespace waymark::tests
