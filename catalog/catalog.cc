#include "catalog/catalog.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "catalog/catalog_impl.h"
#include "catalog/filter_evaluator.h"

namespace waymark {
namespace {

constexpr float kNoYear = std::numeric_limits<float>::quiet_NaN();

float YearOf(double micros) {
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::sys_time<std::chrono::microseconds>(
      std::chrono::microseconds(static_cast<int64_t>(micros))));
  return static_cast<float>(static_cast<int>(std::chrono::year_month_day(days).year()));
}

std::vector<uint64_t> Copy(absl::Span<const uint64_t> hashes) { return {hashes.begin(), hashes.end()}; }

}  // namespace

Catalog::Catalog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Catalog::~Catalog() = default;

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(Store* store, Scope scope) {
  absl::StatusOr<storage::CollectionRecord> collection = store->GetCollection(scope);
  if (!collection.ok()) return collection.status();
  auto impl = std::make_unique<Impl>(
      store, scope, std::make_shared<const Schema>(std::move(*collection->mutable_item_schema())));
  if (absl::Status status = impl->Load(); !status.ok()) return status;
  return std::unique_ptr<Catalog>(new Catalog(std::move(impl)));
}

void Catalog::Apply(absl::Span<const Change> changes) { impl_->Apply(changes); }
LogOffset Catalog::position() const { return impl_->position(); }
bool Catalog::WaitFor(LogOffset offset, absl::Time until) const { return impl_->WaitFor(offset, until); }
int64_t Catalog::replayed_changes() const { return impl_->replayed_changes(); }
absl::Status Catalog::Checkpoint() { return impl_->Checkpoint(); }

bool Catalog::Live(ItemOrdinal item) const { return Impl::Reader(*impl_)->rows().live.contains(item); }

std::shared_ptr<const ItemSet> Catalog::LiveItems() const {
  const Impl::Reader columns(*impl_);
  return impl_->LiveItems(*columns);
}

std::shared_ptr<const ItemSet> Catalog::Impl::LiveItems(const ItemColumns& columns) const {
  std::lock_guard lock(live_mutex_);
  if (live_ == nullptr || live_made_at_ != columns.rows().live_changes) {
    live_ = std::make_shared<const ItemSet>(MakeItemSet(columns.rows().live));
    live_made_at_ = columns.rows().live_changes;
  }
  return live_;
}

int64_t Catalog::live_count() const {
  return static_cast<int64_t>(Impl::Reader(*impl_)->rows().live.cardinality());
}

std::shared_ptr<const Schema> Catalog::schema() const { return Impl::Reader(*impl_)->schema(); }

absl::Status Catalog::DeclareSchema(const storage::SchemaRecord& record) { return impl_->Declare(record); }

absl::Status Catalog::AdoptSchema(std::shared_ptr<const Schema> schema) {
  return impl_->Adopt(std::move(schema), /*all=*/false);
}

void Catalog::ReadNumbers(std::string_view field, absl::Span<const ItemOrdinal> items,
                          absl::Span<double> values) const {
  const Impl::Reader columns(*impl_);
  const NumberColumn* column = columns->FindNumbers(field);
  for (size_t i = 0; i < items.size(); ++i) {
    values[i] = column == nullptr ? std::numeric_limits<double>::quiet_NaN() : column->First(items[i]);
  }
}

void Catalog::ReadDistances(std::string_view field, const GeoPoint& from, absl::Span<const ItemOrdinal> items,
                            absl::Span<double> metres) const {
  const Impl::Reader columns(*impl_);
  const GeoColumn* column = columns->FindPoints(field);
  for (size_t i = 0; i < items.size(); ++i) {
    metres[i] =
        column == nullptr ? std::numeric_limits<double>::infinity() : column->NearestMetres(items[i], from);
  }
}

std::vector<std::pair<std::string, size_t>> Catalog::MemoryBytes() const {
  return Impl::Reader(*impl_)->MemoryBytes();
}

void Catalog::ReadTerms(std::string_view field, absl::Span<const ItemOrdinal> items,
                        std::vector<std::vector<TermNumber>>* terms) const {
  const Impl::Reader columns(*impl_);
  const KeywordColumn* column = columns->FindKeywords(field);
  terms->assign(items.size(), {});
  if (column == nullptr) return;
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::Span<const TermNumber> held = column->Terms(items[i]);
    (*terms)[i].assign(held.begin(), held.end());
  }
}

std::string Catalog::TermText(std::string_view field, TermNumber term) const {
  const Impl::Reader columns(*impl_);
  const KeywordColumn* column = columns->FindKeywords(field);
  return column == nullptr ? std::string() : column->Text(term);
}

void Catalog::ReadContent(absl::Span<const ItemOrdinal> items,
                          std::vector<std::vector<uint64_t>>* title_words,
                          std::vector<std::vector<uint64_t>>* categories) const {
  const Impl::Reader columns(*impl_);
  const ItemContent& content = columns->content();
  title_words->resize(items.size());
  categories->resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    (*title_words)[i] = Copy(content.TitleWords(items[i]));
    (*categories)[i] = Copy(content.Categories(items[i]));
  }
}

void Catalog::ReadYears(absl::Span<const ItemOrdinal> items, absl::Span<float> years) const {
  const Impl::Reader columns(*impl_);
  const ItemColumns::Years source = columns->FindYears();
  for (size_t i = 0; i < items.size(); ++i) {
    const double value =
        source.column == nullptr ? std::numeric_limits<double>::quiet_NaN() : source.column->First(items[i]);
    if (std::isnan(value)) {
      years[i] = kNoYear;
    } else if (source.times) {
      years[i] = YearOf(value);
    } else {
      years[i] = IsYear(value) ? static_cast<float>(value) : kNoYear;
    }
  }
}

void Catalog::ReadCreateTimes(absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times) const {
  const Impl::Reader columns(*impl_);
  const std::vector<int64_t>& created = columns->rows().create_times_us;
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t micros = items[i] < created.size() ? created[items[i]] : 0;
    times[i] = micros == 0 ? absl::InfiniteFuture() : absl::FromUnixMicros(micros);
  }
}

absl::StatusOr<std::shared_ptr<const Filter>> Catalog::CompileFilter(std::string_view text) const {
  absl::StatusOr<Filter> filter = ParseFilter(text, *schema());
  if (!filter.ok()) return filter.status();
  return std::make_shared<const Filter>(*std::move(filter));
}

std::shared_ptr<const ItemSet> Catalog::Evaluate(const Filter& filter) const {
  const Impl::Reader columns(*impl_);
  if (filter.root.kind == FilterNode::Kind::kAll) return impl_->LiveItems(*columns);
  return std::make_shared<const ItemSet>(MakeItemSet(BoundFilter(filter.root, *columns).Evaluate()));
}

void Catalog::Read(absl::FunctionRef<void(const ItemColumns& columns)> read) const {
  const Impl::Reader columns(*impl_);
  read(*columns);
}

bool Catalog::Passes(const Filter& filter, ItemOrdinal item) const {
  const Impl::Reader columns(*impl_);
  return BoundFilter(filter.root, *columns).Passes(item);
}

}  // namespace waymark
