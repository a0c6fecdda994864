// How long completion takes, and what it keeps in memory: over the titles of 36,273 films, and over as many
// made titles as are asked for, on one thread.
//
//   build/release/bin/suggest_speed ../shared/data [1000000]
//
// Asked are beginnings of titles that are drawn by their weight: by letters, and with a typing error. Films
// weigh as often as MovieLens rates them, made titles by Zipf's law. Times are of the thread's own clock.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "index/letters.h"
#include "suggest/complete.h"
#include "suggest/completion_text.h"
#include "tests/suggest/rated_films.h"

namespace waymark {
namespace {

constexpr size_t kQueries = 5000;

// Words of film titles, put together anew.
std::vector<CompletionSource> MakeTitles(const std::vector<CompletionSource>& films, size_t count) {
  std::vector<std::string> words;
  for (const CompletionSource& film : films) {
    for (const FoldedWord& word : FoldForCompletion(film.text).words) {
      words.push_back(film.text.substr(word.begin, word.end - word.begin));
    }
  }
  std::mt19937 random(1);
  std::vector<CompletionSource> titles(count);
  absl::flat_hash_set<std::string> made;
  for (size_t i = 0; i < count; i += made.insert(titles[i].text).second) {
    titles[i].text.clear();
    for (size_t w = 2 + random() % 4; w > 0; --w) {
      titles[i].text += words[random() % words.size()];
      if (w > 1) titles[i].text += ' ';
    }
    titles[i].weight = static_cast<float>(1e6 / static_cast<double>(i + 1));
    titles[i].item = static_cast<ItemOrdinal>(i);
  }
  return titles;
}

double ThreadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class Speed {
 public:
  Speed(const char* name, std::vector<CompletionSource> sources) {
    const absl::Time start = absl::Now();
    list_ = CompletionList::Build(std::move(sources));
    const CompletionList::Memory m = list_->memory();
    const auto mb = [](size_t bytes) { return static_cast<double>(bytes) / 1e6; };
    std::printf(
        "%s: %zu texts, %zu beginnings of words, made in %.2f s\n"
        "  memory %.1f MB: texts %.1f, folded texts %.1f, beginnings %.1f, trees %.1f, items and weights "
        "%.1f\n",
        name, list_->entry_count(), list_->size(), absl::ToDoubleSeconds(absl::Now() - start), mb(m.sum()),
        mb(m.texts), mb(m.folded), mb(m.beginnings), mb(m.trees), mb(m.items));
  }

  void Run() {
    for (const size_t letters : {1, 2, 3, 5, 8, 12}) {
      Ask(std::to_string(letters) + " letters",
          [&](std::u32string typed) { return typed.substr(0, letters); });
    }
    Ask("5 to 12 letters, one error", [&](std::u32string typed) {
      typed = typed.substr(0, 5 + random_() % 8);
      if (typed.size() < 5) return typed;
      const size_t at = 1 + random_() % (typed.size() - 1);
      if (random_() % 2 == 0) {
        typed[at] = U'a' + random_() % 26;
      } else {
        std::swap(typed[at], typed[at - 1]);
      }
      return typed;
    });
    Ask("8 to 12 letters that nothing is near", [&](const std::u32string& typed) {
      std::u32string turned = typed.substr(0, 8 + random_() % 5);
      std::reverse(turned.begin(), turned.end());
      return turned;
    });
  }

 private:
  template <class Make>
  void Ask(const std::string& name, const Make& make) {
    std::vector<double> milliseconds;
    size_t found = 0, cut_short = 0;
    std::uniform_real_distribution<double> share(0, 1);
    for (size_t q = 0; q < kQueries; ++q) {
      // Entries are numbered by weight: about as Zipf's law has it.
      const double place = std::pow(static_cast<double>(list_->entry_count()), share(random_)) - 1;
      const std::u32string folded(Letters(list_->folded(static_cast<CompletionEntry>(place))));
      std::string typed;
      for (const char32_t letter : make(folded)) AppendUtf8(letter, &typed);
      const double start = ThreadMilliseconds();
      const Completions best =
          Complete(*list_, TypedOf(typed), {}, Deadline::Never(), [](CompletionEntry) { return true; });
      milliseconds.push_back(ThreadMilliseconds() - start);
      found += !best.best.empty();
      cut_short += !best.complete;
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto at = [&](double part) {
      return milliseconds[static_cast<size_t>(part * static_cast<double>(kQueries - 1))];
    };
    std::printf("  %-40s median %.3f ms  p99 %.3f  max %.3f  with suggestions %.1f %%  cut short %.1f %%\n",
                name.c_str(), at(.5), at(.99), at(1), 100.0 * static_cast<double>(found) / kQueries,
                100.0 * static_cast<double>(cut_short) / kQueries);
  }

  std::shared_ptr<const CompletionList> list_;
  std::mt19937 random_{2};
};

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: suggest_speed SHARED_DATA [TITLES]\n");
    return 2;
  }
  setenv("WAYMARK_SHARED", (std::string(argv[1]) + "/..").c_str(), 1);
  const std::vector<CompletionSource> films = tests::RatedFilms();
  const size_t count = argc > 2 ? static_cast<size_t>(std::atoll(argv[2])) : 1'000'000;
  Speed("films", films).Run();
  Speed("made titles", MakeTitles(films, count)).Run();
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
