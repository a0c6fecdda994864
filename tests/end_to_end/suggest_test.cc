#include <fstream>

#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

using Texts = std::vector<std::string>;

SuggestAnswer Answer(Collection* collection, const SuggestRequest& request) {
  auto answer = collection->Suggest(request, Deadline::After(absl::Seconds(30)));
  if (!answer.ok()) FAIL(std::string(answer.status().message()));
  return *std::move(answer);
}

Texts TextsOf(Collection* collection, SuggestRequest request) {
  request.consistency_token = "";
  if (auto status = collection->CatchUpSuggestions(Deadline::After(absl::Seconds(30))); !status.ok()) {
    FAIL(std::string(status.message()));
  }
  Texts texts;
  for (const Suggestion& suggestion : Answer(collection, request).suggestions)
    texts.push_back(suggestion.text);
  return texts;
}

SuggestRequest Titles(const std::string& query) {
  return {.query = query, .kinds = {SuggestionKind::kTitle}};
}
SuggestRequest PastOnes(const std::string& query) {
  return {.query = query, .kinds = {SuggestionKind::kPastQuery}};
}

WriteEvent Search(const std::string& user, const std::string& query) {
  WriteEvent event;
  event.type = "search";
  event.user_id = user;
  event.query = query;
  return event;
}

Collection* Shelf(OpenEngine& engine, const CollectionName& name = {}) {
  Collection* films = engine.In(name);
  MustWrite(films, {Film("1", "Star Wars", "Sci-Fi", 1), Film("2", "Star Trek", "Sci-Fi", 2),
                    Film("3", "A Star Is Born", "Drama", 3), Film("4", "Heat", "Crime", 4),
                    Film("5", "Heat", "Drama", 5)});
  return films;
}

TEST_CASE("titles, values and past queries are completed, and take turns") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  for (const char* user : {"u1", "u2", "u3"})
    MustWrite(films, {Search(user, "star wars"), Search(user, "drama")});
  CHECK(TextsOf(films, {.query = "st"}) == Texts{"star wars", "Star Trek", "Star Wars", "A Star Is Born"});
  CHECK(TextsOf(films, {.query = "dra"}) == Texts{"drama", "Drama"});
  const auto answer = Answer(films, {.query = "hea"});
  REQUIRE(answer.suggestions.size() == 1);
  CHECK(answer.suggestions[0].text == "Heat");
  CHECK(answer.suggestions[0].kind == SuggestionKind::kTitle);
  CHECK(answer.suggestions[0].field == "title");
  CHECK(answer.suggestions[0].item_id == "4");
  CHECK(answer.suggestions[0].count == 2);
  CHECK(answer.suggestions[0].snippet == "<mark>Hea</mark>t");
  CHECK(answer.suggestions[0].matches == std::vector<CompletionMatch>{{0, 3}});
  const auto value = Answer(films, {.query = "sci", .kinds = {SuggestionKind::kValue}});
  REQUIRE(value.suggestions.size() == 1);
  CHECK(value.suggestions[0].field == "genres");
  CHECK(value.suggestions[0].count == 2);
  CHECK(TextsOf(films, {.query = "satr t"}) == Texts{"Star Trek"});
  CHECK(TextsOf(films, {.query = "satr t", .typos = TypoTolerance::kOff}).empty());
}

TEST_CASE("what people look at goes first, once the lists were weighed again") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  std::vector<Mutation> views;
  for (int i = 0; i < 200; ++i) views.push_back(View("u" + std::to_string(i), "1"));
  MustWrite(films, std::move(views));
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  engine.Reopen([&] { std::filesystem::remove_all(engine.folder() / "suggest"); });
  CHECK(TextsOf(engine.In(), Titles("star")).front() == "Star Wars");
}

TEST_CASE("a deleted title is gone from the next answer, a new one there with the write's token") {
  EngineOptions options;
  options.index_refresh_interval = absl::Hours(1);
  OpenEngine engine(options);
  Collection* films = Shelf(engine);
  REQUIRE(TextsOf(films, Titles("star")).size() == 3);
  MustWrite(films, {DeleteItem{"2"}});
  Texts now;
  for (const auto& s : Answer(films, Titles("star")).suggestions) now.push_back(s.text);
  CHECK(now == Texts{"Star Wars", "A Star Is Born"});
  for (int n = 0; n < 20; ++n) {
    const std::string title = "Zebra number" + std::to_string(n);
    const WriteReceipt receipt = MustWrite(films, {Film("z" + std::to_string(n), title, "Animals", 1)});
    SuggestRequest request = Titles(title);
    request.consistency_token = EncodeConsistencyToken(receipt.position);
    const SuggestAnswer answer = Answer(films, request);
    REQUIRE(!answer.suggestions.empty());
    CHECK(answer.suggestions[0].text == title);
  }
  CHECK(TextsOf(films, {.query = "anim", .kinds = {SuggestionKind::kValue}}) == Texts{"Animals"});
}

TEST_CASE("a title that has changed is found by its new words alone") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  REQUIRE(TextsOf(films, Titles("star t")) == Texts{"Star Trek"});
  MustWrite(films, {Film("2", "Galaxy Quest", "Comedy", 2), Film("4", "Heat!", "Crime", 4)});
  CHECK(TextsOf(films, Titles("star")) == Texts{"Star Wars", "A Star Is Born"});
  CHECK(TextsOf(films, Titles("gal")) == Texts{"Galaxy Quest"});
  Texts heat = TextsOf(films, Titles("heat"));
  std::sort(heat.begin(), heat.end());
  CHECK(heat == Texts{"Heat", "Heat!"});
  CHECK(TextsOf(films, {.query = "com", .kinds = {SuggestionKind::kValue}}) == Texts{"Comedy"});
  // A price is no title: nothing is made anew for it.
  UpdateItem update;
  update.id = "1";
  (*update.fields.mutable_fields())["price"].set_number_value(999);
  update.paths = {"price"};
  MustWrite(films, {update});
  CHECK(TextsOf(films, Titles("star w")) == Texts{"Star Wars"});
}

TEST_CASE(
    "a filter keeps titles of items that pass and values that such items have, and leaves past queries out") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  for (const char* user : {"u1", "u2", "u3"}) MustWrite(films, {Search(user, "star wars")});
  CHECK(TextsOf(films, {.query = "star", .filter = "price >= 3"}) == Texts{"A Star Is Born"});
  REQUIRE(TextsOf(films, {.query = "dra", .filter = "price >= 5"}) == Texts{"Drama"});
  CHECK(Answer(films, {.query = "dra", .filter = "price >= 5"}).suggestions[0].count == 1);
  CHECK(TextsOf(films, {.query = "sci", .filter = "price >= 3"}).empty());
}

TEST_CASE("a past query is suggested when enough people asked it and it finds something") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  MustWrite(films, {Search("u1", "Heat!"), Search("u1", "heat"), Search("u1", "HEAT"), Search("u2", "heat")});
  CHECK(TextsOf(films, PastOnes("he")).empty());
  MustWrite(films, {Search("u3", "heat"), Search("u1", "headache"), Search("u2", "headache"),
                    Search("u3", "headache")});
  REQUIRE(TextsOf(films, PastOnes("he")) == Texts{"heat"});  // nothing is found by «headache»
  CHECK(Answer(films, PastOnes("he")).suggestions[0].count == 3);
}

TEST_CASE(
    "searches that were served count too, but those without a known user, or with personalization off, do "
    "not") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  for (const char* user : {"u1", "u2", "u3"}) MustWrite(films, {View(user, "1")});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const auto search = [&](const std::string& user, const std::string& query, bool off) {
    PipelineRequest request = SearchFor(query);
    request.user_id = user;
    if (off) request.personalization = PersonalizationMode::kOff;
    REQUIRE(films->Run(request, Deadline::Never()).ok());
  };
  for (const char* user : {"u1", "u2", "u3"}) {
    search(user, "star trek", false);
    search(user, "born", true);
    search(std::string("stranger ") + user, "wars", false);
  }
  CHECK(TextsOf(films, PastOnes("star")) == Texts{"star trek"});
  CHECK(TextsOf(films, PastOnes("bor")).empty());
  CHECK(TextsOf(films, PastOnes("wars")).empty());
}

TEST_CASE("what people went on from goes first, in suggestions and in «did you mean», also after a restart") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  // Four people ask for one thing, three for the other, and find what they looked for.
  std::vector<std::string> requests;
  for (const char* user : {"u1", "u2", "u3", "u4"}) MustWrite(films, {View(user, "4")});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  for (const char* user : {"u1", "u2", "u3", "u4"}) {
    for (const char* query : {"star trek", "star wars"}) {
      if (query == std::string("star wars") && user == std::string("u4")) continue;
      PipelineRequest request = SearchFor(query);
      request.user_id = user;
      const auto answer = films->Run(request, Deadline::Never());
      REQUIRE(answer.ok());
      if (query == std::string("star wars")) requests.push_back(answer->request_id);
    }
  }
  CHECK(TextsOf(films, PastOnes("star")) == Texts{"star trek", "star wars"});
  WriteEvent by_words = View("u1", "1"), by_request = View("u2", "1"), skipped = View("u4", "2");
  by_words.query = "Star Wars";
  by_request.request_id = requests[1];
  skipped.type = "skip";
  skipped.query = "star trek";
  MustWrite(films, {by_words, by_request, skipped});
  CHECK(TextsOf(films, PastOnes("star")) == Texts{"star wars", "star trek"});  // 3 + 2 * 2 against 4
  engine.Reopen();
  CHECK(TextsOf(engine.In(), PastOnes("star")) == Texts{"star wars", "star trek"});
}

bool AnyFileHolds(const std::filesystem::path& folder, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("when a user's erasure is answered, their queries are gone, from the disk too") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  for (const char* user : {"u1", "u2", "u3"}) MustWrite(films, {Search(user, "heat")});
  MustWrite(films, {Search("u3", "my secret star")});
  REQUIRE(TextsOf(films, PastOnes("he")) == Texts{"heat"});
  engine.Reopen();
  films = engine.In();
  REQUIRE(TextsOf(films, PastOnes("he")) == Texts{"heat"});
  REQUIRE(AnyFileHolds(engine.folder() / "suggest", "my secret star"));
  const auto folder = std::filesystem::directory_iterator(engine.folder() / "suggest")->path();
  std::filesystem::copy_file(folder / "queries", folder / "queries.damaged");  // set aside some time ago
  MustWrite(films, {DeleteUser{"u3"}});
  CHECK(Answer(films, PastOnes("he")).suggestions.empty());
  CHECK(!AnyFileHolds(engine.folder() / "suggest", "my secret star"));
  engine.Reopen();
  CHECK(TextsOf(engine.In(), PastOnes("he")).empty());
  // Made anew from the log: not there either.
  engine.Reopen([&] { std::filesystem::remove_all(engine.folder() / "suggest"); });
  CHECK(TextsOf(engine.In(), PastOnes("he")).empty());
}

TEST_CASE("tenants and collections never see each other's suggestions") {
  OpenEngine engine;
  const std::vector<CollectionName> names = {
      {"default", "default"}, {"default", "books"}, {"acme", "default"}};
  for (size_t n = 0; n < names.size(); ++n) {
    Collection* c = engine.In(names[n]);
    const std::string mine = "zebra" + std::to_string(n);
    MustWrite(c, {Film("i", "The " + mine, "zoo" + std::to_string(n), 1)});
    for (const char* user : {"u1", "u2", "u3"}) MustWrite(c, {Search(user, mine)});
  }
  for (size_t n = 0; n < names.size(); ++n) {
    const std::string number = std::to_string(n);
    CHECK(TextsOf(engine.In(names[n]), {.query = "z"}) ==
          Texts{"zebra" + number, "The zebra" + number, "zoo" + number});
  }
}

TEST_CASE("everything is there after a restart, and after the files were damaged or lost") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  for (const char* user : {"u1", "u2", "u3"}) MustWrite(films, {Search(user, "star wars")});
  const Texts before = TextsOf(films, {.query = "s"});
  REQUIRE(before.size() == 5);
  engine.Reopen();
  CHECK(TextsOf(engine.In(), {.query = "s"}) == before);
  MustWrite(engine.In(), {Film("9", "Solaris", "Sci-Fi", 1)});
  engine.Reopen();
  const Texts after = TextsOf(engine.In(), {.query = "s"});
  CHECK(std::find(after.begin(), after.end(), "Solaris") != after.end());
  const Scope scope = engine.In()->scope();
  const auto folder =
      engine.folder() / "suggest" / (std::to_string(scope.tenant) + "-" + std::to_string(scope.collection));
  for (const std::string name : {"lists", "queries"}) {
    INFO(name);
    engine.Reopen([&] {
      REQUIRE(std::filesystem::exists(folder / name));
      std::fstream file(folder / name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(30);
      file << "damage";
    });
    CHECK(TextsOf(engine.In(), {.query = "s"}) == after);
    CHECK_THAT(engine.In()->status().suggestions.rebuild_reason,
               Catch::Contains(name) && Catch::Contains("checksum"));
    CHECK(std::filesystem::exists(folder / (name + ".damaged")));
  }
  engine.Reopen([&] { std::filesystem::remove_all(engine.folder() / "suggest"); });
  CHECK(TextsOf(engine.In(), {.query = "s"}) == after);
  CHECK(engine.In()->status().suggestions.rebuild_reason.empty());
}

TEST_CASE("bad requests are refused with the field, what it holds and what it takes") {
  OpenEngine engine;
  Collection* films = Shelf(engine);
  REQUIRE(TextsOf(films, {.query = "s"}).size() == 4);
  const auto message = [&](const SuggestRequest& request) {
    const auto status = films->Suggest(request, Deadline::Never()).status();
    CHECK(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  CHECK(message({.limit = -1}) == "limit: is -1; it takes 0 (for 10) to 50");
  CHECK(message({.limit = 1'000'000}) == "limit: is 1000000; it takes 0 (for 10) to 50");
  CHECK(message({.query = std::string(100 << 10, 'a')}) == "query: has 102400 bytes; it takes at most 10240");
  CHECK(
      message({.fields = {"title", "genre"}}) ==
      "fields[1]: 'genre' is no field that is suggested; did you mean 'genres'? it takes 'title', 'genres'");
  CHECK_THAT(message({.fields = std::vector<std::string>(21, "title")}),
             Catch::StartsWith("fields: has 21 names"));
  CHECK_THAT(message({.filter = "price >"}), Catch::StartsWith("filter"));
  CHECK_THAT(message({.consistency_token = "nonsense"}), Catch::Contains("token"));
  for (const std::string query : {"", "?!.,", "🎬🍿", "שלום", "\xff\xfe", "a\0b", " ", "\"star"}) {
    CHECK(films->Suggest({.query = query}, Deadline::Never()).ok());
  }
  CHECK(TextsOf(films, {.query = std::string(10'000, 'a')}).empty());
  CHECK(TextsOf(films, {.query = "s", .fields = {"genres"}}) == Texts{"Sci-Fi"});
  CHECK(TextsOf(films, {.query = "s", .limit = 2}).size() == 2);
}

TEST_CASE("an empty collection suggests nothing") {
  OpenEngine engine;
  CHECK(TextsOf(engine.In(), {.query = "s"}).empty());
  CHECK(TextsOf(engine.In(), {.query = ""}).empty());
}

TEST_CASE("large lists are made anew beside those that serve, without losing what changes meanwhile") {
  EngineOptions options;
  options.index_refresh_interval = absl::Milliseconds(5);
  OpenEngine engine(options);
  Collection* films = engine.In();
  MustWrite(films, {Film("a", "Anchor", "Drama", 1)});
  REQUIRE(TextsOf(films, Titles("anch")) == Texts{"Anchor"});
  for (int batch = 0; batch < 25; ++batch) {
    std::vector<Mutation> items;
    for (int i = 0; i < 1000; ++i) {
      const int number = batch * 1000 + i;
      items.push_back(Film("f" + std::to_string(number), "Film number" + std::to_string(number), "Drama", 1));
    }
    MustWrite(films, std::move(items));
    if (batch > 0) MustWrite(films, {DeleteItem{"f" + std::to_string(batch)}});
  }
  for (int number = 0; number < 25'000; number += 997) {
    INFO(number);
    CHECK(TextsOf(films, Titles("number" + std::to_string(number))).size() >= 1);
  }
  for (int number = 1; number < 25; ++number) {
    const Texts texts = TextsOf(films, Titles("film number" + std::to_string(number)));
    CHECK(std::find(texts.begin(), texts.end(), "Film number" + std::to_string(number)) == texts.end());
  }
  CHECK(TextsOf(films, Titles("anch")) == Texts{"Anchor"});
}

}  // namespace
}  // namespace waymark::tests
