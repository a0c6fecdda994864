#include "app/served_export.h"

#include "app/data_copy.h"
#include "store/rows/flat_row.h"
#include "store/served_log.h"

namespace waymark {

namespace {

ServedList ListOf(const storage::ServeRecord& record, const Store& store, Scope scope) {
  ServedList list;
  list.request_id = record.request_id();
  list.time = absl::FromUnixMicros(record.time_us());
  list.surface = record.surface();
  list.query = record.query();
  list.release = record.release_id();
  list.arm = record.arm();
  if (record.user() != 0) {
    if (auto user = store.GetUser(scope, record.user()); user.ok()) list.user_id = user->id();  // else erased
  }
  std::vector<ItemOrdinal> items;
  for (const storage::ServedItem& shown : record.shown()) items.push_back(shown.item());
  const std::vector<std::string> ids = store.ItemIds(scope, items);
  for (size_t i = 0; i < ids.size(); ++i)
    list.items.push_back({ids[i], record.shown(static_cast<int>(i)).score()});
  return list;
}

}  // namespace

absl::Status ExportServed(Backend* backend, const std::string& data, const CollectionName& name,
                          const std::function<absl::Status(const std::string& line)>& sink) {
  auto copy = DataCopy::Make(backend, data);
  if (!copy.ok()) return copy.status();
  StoreOptions options;
  options.create = false;
  options.read_only = true;
  auto store = Store::Open((*copy)->folder(), options);
  if (!store.ok()) return store.status();
  auto scope = (*store)->FindCollection(name);
  if (!scope.ok()) return scope.status();
  ServedLogOptions log_options;
  log_options.read_only = true;
  auto log = ServedLog::Open(data, log_options);
  if (!log.ok()) return log.status();
  absl::Status written;
  auto read = (*log)->ForEach(*scope, std::nullopt, [&](const storage::ServeRecord& record) {
    written = sink(ServedRow(ListOf(record, **store, *scope)));
    return written.ok();
  });
  return written.ok() ? read : written;
}

}  // namespace waymark
