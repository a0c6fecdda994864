#include "tests/support/sequences.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/support/skip.h"

namespace waymark::tests {
namespace {

struct Row {
  UserNumber user;
  ItemOrdinal item;
  int64_t seconds;
};

class Ordinals {
 public:
  ItemOrdinal Of(const std::string& id) {
    return ordinals_.try_emplace(id, static_cast<ItemOrdinal>(ordinals_.size())).first->second;
  }

 private:
  std::map<std::string, ItemOrdinal> ordinals_;
};

Interactions FromRows(const std::vector<Row>& rows) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows[a].seconds < rows[b].seconds; });
  struct History {
    std::vector<ItemOrdinal> items;
    std::vector<int64_t> times;
    std::vector<LogOffset> offsets;
  };
  std::map<UserNumber, History> histories;
  for (size_t place = 0; place < order.size(); ++place) {
    const Row& row = rows[order[place]];
    History& history = histories[row.user];
    history.items.push_back(row.item);
    history.times.push_back(row.seconds * 1000000);
    history.offsets.push_back(place + 1);
  }
  Interactions out;
  for (const auto& [user, history] : histories)
    out.AddUser(user, history.items, history.times, history.offsets);
  return out;
}

// Columns user, item, rating, seconds after a header line.
Interactions FromRatings(const std::filesystem::path& file, char separator) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::vector<Row> rows;
  Ordinals ordinals;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string user, item, rating, seconds;
    std::getline(fields, user, separator);
    std::getline(fields, item, separator);
    std::getline(fields, rating, separator);
    std::getline(fields, seconds, separator);
    rows.push_back({std::stoull(user), ordinals.Of(item), static_cast<int64_t>(std::stod(seconds))});
  }
  return FromRows(rows);
}

}  // namespace

Interactions LoadBeauty() {
  std::ifstream in(SharedData() / "amazon-beauty-5core" / "Beauty.txt");
  std::vector<Row> rows;
  Ordinals ordinals;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    UserNumber user = 0;
    fields >> user;
    int64_t position = 0;
    for (std::string item; fields >> item; ++position) rows.push_back({user, ordinals.Of(item), position});
  }
  return FromRows(rows);
}

Interactions LoadMovieLensSmall() {
  return FromRatings(SharedData() / "ml-latest-small" / "ratings.csv", ',');
}

std::optional<Interactions> LoadMovieLens100k() {
  const char* file = std::getenv("WAYMARK_ML100K");
  if (file == nullptr || !std::filesystem::exists(file)) {
    Skipped().push_back("WAYMARK_ML100K names no ml-100k.inter");
    return std::nullopt;
  }
  return FromRatings(file, '\t');
}

}  // namespace waymark::tests
