// The check of a whole data folder, and damage to each of its derived files.
#include "pipeline/data_check.h"

#include <algorithm>
#include <map>
#include <thread>

#include "index/index_manifest.h"
#include "tests/end_to_end/open_engine.h"
#include "tests/support/damage.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;
using IdList = std::vector<std::string>;

// Something of every kind: words, columns, a vector field, events, past queries, suggestions.
void Fill(OpenEngine* engine) {
  Collection* shop = engine->In();
  storage::SchemaRecord schema;
  const auto add = [&](const char* name, storage::FieldRecord::Type type) {
    storage::FieldRecord* field = schema.add_fields();
    field->set_name(name);
    field->set_type(type);
    return field;
  };
  auto* title = add("title", storage::FieldRecord::TEXT);
  title->set_searchable(true);
  title->set_title(true);
  auto* genres = add("genres", storage::FieldRecord::KEYWORD);
  genres->set_array(true);
  genres->set_filterable(true);
  genres->set_category(true);
  add("price", storage::FieldRecord::FLOATING)->set_filterable(true);
  add("look", storage::FieldRecord::VECTOR)->set_dimension(4);
  REQUIRE(shop->DeclareSchema(schema).ok());
  std::vector<Mutation> writes;
  for (int i = 0; i < 60; ++i) {
    PutItem film =
        Film("f" + std::to_string(i), i % 2 ? "star wars" : "a quiet star", i % 3 ? "Drama" : "War", i);
    for (int d = 0; d < 4; ++d) {
      (*film.fields.mutable_fields())["look"].mutable_list_value()->add_values()->set_number_value(
          d == i % 4 ? 1 : 0.01 * i);
    }
    writes.push_back(film);
    writes.push_back(View("u" + std::to_string(i % 5), film.id));
  }
  MustWrite(shop, std::move(writes));
  MustWrite(shop, {DeleteItem{"f7"}});
  REQUIRE(shop->CatchUp(Deadline::Never()).ok());
  REQUIRE(shop->CatchUpSuggestions(Deadline::Never()).ok());
  REQUIRE((*engine)->Checkpoint().ok());
}

std::vector<IdList> Answers(OpenEngine* engine) {
  Collection* shop = engine->In();
  REQUIRE(shop->CatchUp(Deadline::Never()).ok());
  std::vector<IdList> answers = {Ids(shop, SearchFor("star wars")),
                                 Ids(shop, SearchFor("", "genres = \"War\"")),
                                 Ids(shop, SearchFor("quiet", "price < 20"))};
  PipelineRequest near = SearchFor("");
  near.vector = {"look", {1, 0, 0, 0}, 10};
  answers.push_back(Ids(shop, near));
  auto suggested = shop->Suggest({.query = "sta"}, Deadline::Never());
  REQUIRE(suggested.ok());
  for (const Suggestion& suggestion : suggested->suggestions) answers.push_back({suggestion.text});
  return answers;
}

std::vector<PartCheck> Check(OpenEngine* engine, bool repair = false) {
  auto parts = engine->In()->Check({.repair = repair}, Deadline::Never());
  INFO(parts.status());
  REQUIRE(parts.ok());
  return *parts;
}

int64_t Findings(const std::vector<PartCheck>& parts) {
  int64_t findings = 0;
  for (const PartCheck& part : parts) findings += part.findings_count;
  return findings;
}

// Files of a Lucene++ index that nothing is read from: its hint, and those of the commit before.
bool Unread(const fs::path& folder, const std::string& file) {
  const fs::path path = folder / file;
  const std::string name = path.filename().string();
  if (name.find("segments.gen") == 0 || name == "write.lock") return true;
  if (name.find("segments_") != 0 && name.find('_') != 0) return false;
  const auto manifest = ReadManifest(path.parent_path());
  REQUIRE(manifest.ok());
  if (name.find(".postings") != std::string::npos) return false;
  return std::none_of(manifest->files.begin(), manifest->files.end(),
                      [&](const IndexedFile& named) { return named.name == name; });
}

// Folders of what is derived.
const char* kDerived[] = {"catalog", "index", "recommend", "vectors", "suggest"};

TEST_CASE("a folder in order agrees with its store, and every derived file is looked at") {
  OpenEngine engine;
  Fill(&engine);
  const auto parts = Check(&engine);
  CHECK(Findings(parts) == 0);
  std::map<std::string, PartCheck> by_name;
  for (const PartCheck& part : parts) by_name[part.part] = part;
  for (const char* name : {"store", "catalog", "index"}) CHECK(by_name[name].items == 59);
  CHECK(by_name["vectors"].items == 59);
  for (const char* name : {"catalog", "index", "vectors", "behaviour", "suggest"}) {
    INFO(name);
    CHECK(by_name[name].files > 0);
  }
  // Beside writes.
  for (int round = 0; round < 5; ++round) {
    std::thread writer([&] {
      for (int i = 0; i < 40; ++i)
        MustWrite(engine.In(), {Film("n" + std::to_string(i), "new star", "War", i)});
    });
    CHECK(Findings(Check(&engine)) == 0);
    writer.join();
  }
}

TEST_CASE("each of 64 flips and cuts of every derived file is found by the check of files") {
  OpenEngine engine;
  Fill(&engine);
  const Scope scope = engine.In()->scope();
  engine.Reopen([&] {
    size_t files = 0;
    for (const char* folder : kDerived) {
      for (const std::string& file : FilesBelow(engine.folder() / folder)) {
        if (Unread(engine.folder() / folder, file)) continue;
        const fs::path path = engine.folder() / folder / file, intact = engine.folder() / "intact";
        fs::copy_file(path, intact, fs::copy_options::overwrite_existing);
        for (const Damage& damage : SpreadDamages(fs::file_size(intact))) {
          INFO(folder << "/" << file << (damage.cut ? " cut at " : " flipped at ") << damage.at);
          Apply(damage, path);
          const auto parts = CheckFiles(engine.folder(), scope);
          fs::copy_file(intact, path, fs::copy_options::overwrite_existing);
          REQUIRE(Findings(parts) > 0);
        }
        ++files;
      }
    }
    CHECK(files > 12);
    CHECK(Findings(CheckFiles(engine.folder(), scope)) == 0);
  });
}

TEST_CASE("after damage to any derived file the next start answers as before, and says what was made anew") {
  OpenEngine engine;
  Fill(&engine);
  const auto expected = Answers(&engine);
  engine.Reopen([&] {
    for (const char* folder : kDerived) {
      CopyOver(engine.folder() / folder, engine.folder() / "intact" / folder);
    }
  });
  std::vector<std::pair<std::string, std::string>> files;
  for (const char* folder : kDerived) {
    for (const std::string& file : FilesBelow(engine.folder() / "intact" / folder)) {
      if (!Unread(engine.folder() / "intact" / folder, file)) files.emplace_back(folder, file);
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const auto& [folder, file] = files[i];
    const auto damages = SpreadDamages(fs::file_size(engine.folder() / "intact" / folder / file));
    const Damage damage = damages[(i * 37) % damages.size()];
    INFO(folder << "/" << file << (damage.cut ? " cut at " : " flipped at ") << damage.at);
    engine.Reopen([&, &folder = folder, &file = file] {
      for (const char* whole : kDerived)
        CopyOver(engine.folder() / "intact" / whole, engine.folder() / whole);
      Apply(damage, engine.folder() / folder / file);
    });
    REQUIRE(Answers(&engine) == expected);
    const auto status = engine.In()->status();
    CHECK(std::any_of(status.parts.begin(), status.parts.end(),
                      [](const PartSize& part) { return !part.rebuild_reason.empty(); }));
    REQUIRE((*engine).Checkpoint().ok());
    CHECK(Findings(Check(&engine)) == 0);
  }
}

TEST_CASE("a repair of a running collection puts damaged files right") {
  OpenEngine engine;
  Fill(&engine);
  const auto expected = Answers(&engine);
  for (const char* folder : kDerived) {
    std::vector<std::string> names = FilesBelow(engine.folder() / folder);
    names.erase(
        std::remove_if(names.begin(), names.end(),
                       [&](const std::string& name) { return Unread(engine.folder() / folder, name); }),
        names.end());
    REQUIRE_FALSE(names.empty());
    INFO(folder << "/" << names.front());
    Apply({false, 9}, engine.folder() / folder / names.front());
    CHECK(Findings(Check(&engine)) > 0);
    const auto repaired = Check(&engine, /*repair=*/true);
    for (const PartCheck& part : repaired) {
      for (const PartFinding& finding : part.findings) {
        INFO(finding.what);
        CHECK(finding.repaired);
      }
    }
    CHECK(Findings(Check(&engine)) == 0);
  }
  CHECK(Answers(&engine) == expected);
}

}  // namespace
}  // namespace waymark::tests
