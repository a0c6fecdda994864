#include "serving/services/item_listing.h"

#include <optional>
#include <utility>
#include <vector>

#include "serving/list_page.h"
#include "serving/services/batch_import.h"
#include "serving/services/catalog_service.h"
#include "serving/services/collection_access.h"
#include "serving/services/item_messages.h"

namespace waymark {
namespace {

// Collects items until there are enough of them or of bytes, and remembers where it stopped.
class PageFiller {
 public:
  PageFiller(size_t limit, size_t max_bytes) : limit_(limit), max_bytes_(max_bytes) {}
  // False: the page is full, and `item` is the first of the next.
  bool Take(ItemOrdinal item, const storage::ItemRecord& record) {
    const size_t bytes = record.ByteSizeLong();
    if (records_.size() >= limit_ || (!records_.empty() && bytes_ + bytes > max_bytes_)) {
      next_ = item;
      return false;
    }
    bytes_ += bytes;
    records_.push_back(record);
    return true;
  }
  void GoOnAfter(ItemOrdinal item) { next_ = item + 1; }
  const std::vector<storage::ItemRecord>& records() const { return records_; }
  std::optional<ItemOrdinal> next() const { return next_; }

 private:
  size_t limit_, max_bytes_, bytes_ = 0;
  std::vector<storage::ItemRecord> records_;
  std::optional<ItemOrdinal> next_;
};

// Reads matching items from `first` on, a block at a time.
absl::Status FillFiltered(const Store& store, Collection* collection, const std::string& text,
                          ItemOrdinal first, PageFiller* page, const CallContext& context) {
  auto filter = collection->catalog().CompileFilter(text);
  if (!filter.ok()) return filter.status();
  std::vector<ItemOrdinal> items;
  collection->catalog().Evaluate(**filter)->ForEach([&](ItemOrdinal item) {
    if (item >= first) items.push_back(item);
    return items.size() <= static_cast<size_t>(kMaxListPage);
  });
  constexpr size_t kBlock = 100;
  for (size_t start = 0; start < items.size(); start += kBlock) {
    if (auto status = context.Check(); !status.ok()) {
      if (!absl::IsDeadlineExceeded(status) || start == 0) return status;
      page->GoOnAfter(items[start - 1]);
      return absl::OkStatus();
    }
    const auto block = absl::MakeConstSpan(items).subspan(start, kBlock);
    const auto records = store.GetItems(collection->scope(), block);
    for (size_t i = 0; i < block.size(); ++i) {
      if (records[i].has_value() && !page->Take(block[i], *records[i])) return absl::OkStatus();
    }
  }
  // Items that went meanwhile may leave the page short; what follows the block must not be lost.
  if (items.size() > static_cast<size_t>(kMaxListPage)) page->GoOnAfter(items.back());
  return absl::OkStatus();
}

class ItemExport : public ExportCursor<v1::Item> {
 public:
  ItemExport(Engine* engine, Collection* collection) : engine_(engine), collection_(collection) {}

  absl::StatusOr<std::vector<v1::Item>> Next(const CallContext& context) override {
    std::vector<v1::Item> items;
    if (!next_) return items;
    if (auto status = context.Check(); !status.ok()) return status;
    PageFiller page(kExportChunk, kExportChunkBytes);
    auto status = engine_->store().ForEachItem(
        collection_->scope(), *next_,
        [&](ItemOrdinal item, const storage::ItemRecord& record) { return page.Take(item, record); });
    if (!status.ok()) return status;
    for (const auto& record : page.records()) ToMessage(collection_->name(), record, &items.emplace_back());
    next_ = page.next();
    return items;
  }

 private:
  Engine* engine_;
  Collection* collection_;
  std::optional<ItemOrdinal> next_ = 0;
};

class ItemImportSession : public ItemImport {
 public:
  explicit ItemImportSession(Engine* engine) : import_(engine) {}
  absl::Status Take(const v1::ImportItemsRequest& request, const CallContext& context) override {
    if (auto status = import_.Open(request.parent()); !status.ok()) return status;
    for (const v1::Item& item : request.items()) {
      if (auto status = import_.Add(item.id(), PutOf(item)); !status.ok()) return status;
    }
    if (auto status = import_.Flush(); !status.ok()) return status;
    return context.Check();
  }
  absl::Status Finish(v1::ImportItemsResponse* response, const CallContext&) override {
    import_.Answer(response);
    return absl::OkStatus();
  }

 private:
  BatchImport import_;
};

}  // namespace

absl::Status ListItems(Engine* engine, const v1::ListItemsRequest& request, v1::ListItemsResponse* response,
                       const CallContext& context) {
  auto size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  const ListArguments arguments = {"ListItems", request.parent(), request.filter()};
  auto place = ReadListToken(request.page_token(), arguments);
  if (!place.ok()) return place.status();
  auto collection = OpenForRead(engine, request.parent(), request.consistency_token(), context);
  if (!collection.ok()) return collection.status();
  const ItemOrdinal first = static_cast<ItemOrdinal>(place->first);
  PageFiller page(static_cast<size_t>(*size), kMaxListPageBytes);
  absl::Status status =
      request.filter().empty()
          ? engine->store().ForEachItem(
                (*collection)->scope(), first,
                [&](ItemOrdinal item, const storage::ItemRecord& record) { return page.Take(item, record); })
          : FillFiltered(engine->store(), *collection, request.filter(), first, &page, context);
  if (!status.ok()) return status;
  for (const auto& record : page.records()) ToMessage((*collection)->name(), record, response->add_items());
  if (page.next()) response->set_next_page_token(MakeListToken({.first = *page.next()}, arguments));
  return absl::OkStatus();
}

std::unique_ptr<ItemImport> MakeItemImport(Engine* engine) {
  return std::make_unique<ItemImportSession>(engine);
}

absl::StatusOr<std::unique_ptr<ExportCursor<v1::Item>>> MakeItemExport(Engine* engine,
                                                                       const v1::ExportItemsRequest& request,
                                                                       const CallContext& context) {
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  return std::make_unique<ItemExport>(engine, *collection);
}

}  // namespace waymark
