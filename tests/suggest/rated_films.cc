#include "tests/suggest/rated_films.h"

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_split.h"
#include "tests/catalog/movies.h"
#include "tests/support/skip.h"

namespace waymark::tests {

std::vector<CompletionSource> RatedFilms() {
  std::map<std::string, int> ratings;  // of a MovieLens id
  std::string line;
  std::ifstream rows(SharedData() / "ml-latest-small" / "ratings.csv");
  std::getline(rows, line);
  while (std::getline(rows, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    ++ratings[cells.at(1)];
  }
  std::map<std::string, float> weights;  // of a page of Wikipedia
  std::ifstream pairs(SharedData() / "derived" / "ml-small_to_wikipedia.tsv");
  std::getline(pairs, line);
  while (std::getline(pairs, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    weights[cells.at(4)] += static_cast<float>(ratings[cells.at(0)]);
  }
  std::vector<CompletionSource> films;
  ForEachWikipediaMovie([&](const google::protobuf::Struct& fields) {
    const auto href = fields.fields().find("href");
    const std::string page = href == fields.fields().end() ? "" : href->second.string_value();
    const auto weight = weights.find(page);
    films.push_back({fields.fields().at("title").string_value(), weight == weights.end() ? 0 : weight->second,
                     static_cast<ItemOrdinal>(films.size())});
  });
  return films;
}

}  // namespace waymark::tests
