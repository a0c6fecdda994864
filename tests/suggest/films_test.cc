// On real titles: what share of them is found, with how many letters.
#include <algorithm>
#include <cstdio>

#include "index/letters.h"
#include "suggest/complete.h"
#include "tests/suggest/rated_films.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace waymark::tests {
namespace {

std::string FirstLetters(const std::string& text, size_t letters) {
  std::string first;
  for (const char32_t letter : Letters(text).substr(0, letters)) AppendUtf8(letter, &first);
  return first;
}

bool Suggests(const CompletionList& list, const std::string& typed, const std::string& text) {
  const auto all = [](CompletionEntry) { return true; };
  const Completions found = Complete(list, TypedOf(typed), {}, Deadline::Never(), all);
  return std::any_of(found.best.begin(), found.best.end(),
                     [&](const Completion& c) { return list.text(c.entry) == text; });
}

TEST_CASE("three letters find the popular films, and enough letters every film") {
  if (!HaveData("wikipedia-movies") || !HaveData("ml-latest-small") || !HaveData("derived")) return;
  std::vector<CompletionSource> films = RatedFilms();
  REQUIRE(films.size() == 36273);
  const auto list = CompletionList::Build(films);
  std::sort(films.begin(), films.end(), [](const auto& a, const auto& b) { return a.weight > b.weight; });
  size_t by_three = 0;
  for (size_t i = 0; i < 100; ++i) by_three += Suggests(*list, FirstLetters(films[i].text, 3), films[i].text);
  std::printf("of the 100 films that are rated most, %zu are among 10 suggestions after 3 letters\n",
              by_three);
  CHECK(by_three >= 60);
  size_t by_all = 0, of = 0;
  std::string missed;
  for (size_t i = 0; i < films.size(); ++i) {
    if (TypedOf(films[i].text).words.empty()) continue;  // «...» has no letters
    ++of;
    if (Suggests(*list, films[i].text, films[i].text)) {
      ++by_all;
    } else if (missed.size() < 200) {
      missed += films[i].text + "; ";
    }
  }
  std::printf("of %zu films with words in their titles, %zu are found by the whole title\n", of, by_all);
  INFO(missed);
  CHECK(by_all == of);
}

}  // namespace
}  // namespace waymark::tests
