#include "tests/end_to_end/shelf.h"

#include "tests/catalog/items.h"

namespace waymark::tests {

RandomShelf::RandomShelf(int size, uint32_t seed) : random(seed) {
  films = engine.In();
  storage::SchemaRecord schema = SchemaRecordOf(RandomRows::kSchema);
  Field* title = schema.add_fields();
  title->set_name("title");
  title->set_type(storage::FieldRecord::TEXT);
  title->set_searchable(true);
  title->set_title(true);
  title->set_search_weight(1);
  if (auto status = films->DeclareSchema(schema); !status.ok()) FAIL(std::string(status.message()));
  items.resize(static_cast<size_t>(size));
  std::vector<Mutation> writes;
  for (size_t i = 0; i < items.size(); ++i) Put(i, &writes);
  Write(std::move(writes));
}

void RandomShelf::Put(size_t place, std::vector<Mutation>* writes) {
  ShelfItem& item = items[place];
  item.id = "f" + std::to_string(place);
  item.row = random.MakeRow();
  item.words.clear();
  std::string title;
  for (int n = 1 + random.Below(4); n > 0; --n) {
    const int word = std::min(random.Below(kWords), random.Below(kWords));
    if (!item.Holds(word)) item.words.push_back(word);
    title += "word" + std::to_string(word) + " ";
  }
  if (!item.row.live) {
    writes->push_back(PutItem{item.id, {}});
    writes->push_back(DeleteItem{item.id});
    return;
  }
  PutItem put{item.id, RandomRows::FieldsOf(item.row)};
  (*put.fields.mutable_fields())["title"].set_string_value(title);
  writes->push_back(std::move(put));
}

void RandomShelf::Change() {
  std::vector<Mutation> writes;
  for (size_t i = 0; i < items.size(); i += 3) Put(i, &writes);
  Write(std::move(writes));
}

void RandomShelf::Write(std::vector<Mutation> writes) {
  for (size_t begin = 0; begin < writes.size(); begin += 500) {
    const size_t end = std::min(writes.size(), begin + 500);
    MustWrite(films, {writes.begin() + static_cast<long>(begin), writes.begin() + static_cast<long>(end)});
  }
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
}

PipelineResponse RandomShelf::Run(const PipelineRequest& request) {
  auto answer = films->Run(request, Deadline::Never());
  if (!answer.ok()) FAIL(std::string(answer.status().message()));
  return *std::move(answer);
}

const ShelfItem& RandomShelf::At(const std::string& id) const {
  for (const ShelfItem& item : items) {
    if (item.id == id) return item;
  }
  FAIL("no item " + id);
  return items[0];
}

}  // namespace waymark::tests
