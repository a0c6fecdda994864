// Times over the Wikipedia movies, by class of query as the benchmark against peers has them. Not part of a
// test run: `keyword_index_test "[times]"` prints them.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/trec.h"

namespace waymark::tests {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::pair<std::string, TextFields>>;

std::string Joined(const Json& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : " ") + value.get<std::string>();
  return text;
}

Texts ReadMovies() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SharedData() / "wikipedia-movies")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("movies-") && name.ends_with("s.json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Texts movies;
  for (const auto& file : files) {
    for (const Json& movie : Json::parse(std::ifstream(file))) {
      std::string text = movie.value("extract", "");
      for (const char* field : {"cast", "genres"}) text += " " + Joined(movie.value(field, Json::array()));
      if (movie.contains("year")) text += " " + movie["year"].dump();
      movies.push_back(
          {absl::StrCat("w", movies.size()), {{"title", movie["title"].get<std::string>()}, {"text", text}}});
    }
  }
  return movies;
}

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  std::string plain = PlainWords(text);
  for (size_t begin = 0; begin < plain.size();) {
    const size_t end = std::min(plain.find(' ', begin), plain.size());
    words.push_back(plain.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// class -> queries: content words of a window of 12 words of one movie, and runs of words for phrases.
std::map<std::string, std::vector<std::string>> MakeQueries(const Texts& movies) {
  std::vector<std::vector<std::string>> texts;
  std::unordered_map<std::string, int> counts;
  for (const auto& [id, fields] : movies) {
    texts.push_back(WordsOf(fields.at("text")));
    const std::set<std::string> distinct(texts.back().begin(), texts.back().end());
    for (const std::string& word : distinct) ++counts[word];
  }
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [word, count] : counts) by_count.emplace_back(-count, word);
  std::sort(by_count.begin(), by_count.end());
  std::set<std::string> stop;
  for (size_t i = 0; i < 60; ++i) stop.insert(by_count[i].second);

  std::mt19937 random(7);
  std::map<std::string, std::vector<std::string>> queries;
  const auto window = [&](size_t words, const char* between) -> std::string {
    while (true) {
      const auto& text = texts[random() % texts.size()];
      if (text.size() < 12) continue;
      const size_t start = random() % (text.size() - 11);
      std::vector<std::string> content;
      for (size_t i = start; i < start + 12; ++i) {
        if (!stop.contains(text[i]) && text[i].size() > 2 &&
            !std::count(content.begin(), content.end(), text[i])) {
          content.push_back(text[i]);
        }
      }
      if (content.size() < words) continue;
      std::shuffle(content.begin(), content.end(), random);
      std::string query = content[0];
      for (size_t i = 1; i < words; ++i) query += between + content[i];
      return query;
    }
  };
  const auto run = [&](size_t words) -> std::string {
    while (true) {
      const auto& text = texts[random() % texts.size()];
      if (text.size() < words) continue;
      const size_t start = random() % (text.size() - words + 1);
      if (stop.contains(text[start]) || stop.contains(text[start + words - 1])) continue;
      std::string query = "\"" + text[start];
      for (size_t i = 1; i < words; ++i) query += " " + text[start + i];
      return query + "\"";
    }
  };
  for (int i = 0; i < 200; ++i) {
    for (size_t n : {1, 2, 3, 5, 10}) queries[absl::StrCat("or", n)].push_back(window(n, " "));
    for (size_t n : {2, 3}) queries[absl::StrCat("and", n)].push_back(window(n, " AND "));
    for (size_t n : {2, 3}) queries[absl::StrCat("phrase", n)].push_back(run(n));
    queries["common"].push_back("the of and in film");
  }
  return queries;
}

double ThreadMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void PrintTimes(const IndexedCollection& shop, const Texts& movies) {
  for (const auto& [kind, queries] : MakeQueries(movies)) {
    std::vector<double> times;
    int64_t matches = 0;
    for (int round = 0; round < 4; ++round) {
      for (const std::string& query : queries) {
        const double start = ThreadMicroseconds();
        const KeywordHits hits = shop.Find({.query = query});
        if (round > 0) times.push_back(ThreadMicroseconds() - start);
        if (round == 0) matches += hits.total;
      }
    }
    std::sort(times.begin(), times.end());
    std::printf("%-8s median %7.1f us  p95 %7.1f us  p99 %7.1f us  matches %lld\n", kind.c_str(),
                times[times.size() / 2], times[times.size() * 95 / 100], times[times.size() * 99 / 100],
                static_cast<long long>(matches / static_cast<int64_t>(queries.size())));
  }
}

void Measure(bool english) {
  const Texts movies = ReadMovies();
  REQUIRE(movies.size() == 36273);
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}}, english);
  const double write = Seconds([&] { shop.PutAll(movies); });
  const double index = Seconds([&] { shop.CatchUp(); });
  const double commit = Seconds([&] { REQUIRE(shop.index->Commit().ok()); });
  const double reopen = Seconds([&] { shop.Reopen(); });
  const KeywordIndexStatus status = shop.index->status();
  std::printf(
      "%s: store %.1f s, index %.1f s (%.0f items/s), commit %.2f s, reopen %.2f s, %lld segments, %.1f MB\n",
      english ? "english" : "plain", write, index, static_cast<double>(movies.size()) / index, commit, reopen,
      static_cast<long long>(status.segments), static_cast<double>(status.bytes) / 1e6);
  CHECK(status.items == 36273);
  PrintTimes(shop, movies);
}

TEST_CASE("times of plain words on the Wikipedia movies", "[.][times]") {
  if (HaveData("wikipedia-movies")) Measure(false);
}

TEST_CASE("times of English analysis on the Wikipedia movies", "[.][times]") {
  if (HaveData("wikipedia-movies")) Measure(true);
}

}  // namespace
}  // namespace waymark::tests
