#include "recommend/network/loaded_retriever.h"

#include <algorithm>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "recommend/network/pointwise_kernels.h"

namespace waymark {
namespace {

constexpr size_t kCachedOthers = 200000;
constexpr size_t kTokensAtOnce = 4096;  // bounds the memory of EncodeUsers
constexpr size_t kItemsAtOnce = 16384;  // and of binding the vocabulary

absl::Status WrongSize(const char* what, size_t is, size_t wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has room for ", is, " floats, and ", wanted, " are needed"));
}

absl::Status TorchFailed(const c10::Error& e) {
  return absl::InternalError(absl::StrCat("LibTorch failed in the retriever: ", e.what_without_backtrace()));
}

// A serving call runs on its caller's thread alone.
void UseOneIntraOpThread() {
  thread_local const bool set = [] {
    if (at::get_num_threads() != 1) at::set_num_threads(1);
    return true;
  }();
  (void)set;
}

EncoderWorkspace& ThreadWorkspace() {
  thread_local EncoderWorkspace workspace;
  return workspace;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Retriever>> Retriever::Load(const ModelPackage& package,
                                                           const ItemDirectory* items) {
  return LoadedRetriever::Make(package, items);
}

LoadedRetriever::LoadedRetriever(const ModelPackage& package, const RetrieverShape& shape,
                                 const ItemDirectory* items)
    : content_sha256_(package.content_sha256),
      version_(package.manifest.version()),
      shape_(shape),
      items_(items),
      dense_(shape),
      encoder_(shape, &dense_) {}

absl::StatusOr<std::unique_ptr<LoadedRetriever>> LoadedRetriever::Make(const ModelPackage& package,
                                                                       const ItemDirectory* items) {
  absl::StatusOr<RetrieverShape> shape = RetrieverShape::FromManifest(package.manifest);
  if (!shape.ok()) return shape.status();
  try {
    std::unique_ptr<LoadedRetriever> retriever(new LoadedRetriever(package, *shape, items));
    if (absl::Status read = retriever->Read(package); !read.ok()) {
      return absl::Status(read.code(),
                          absl::StrCat("the retriever in ", package.folder.string(), ": ", read.message()));
    }
    return retriever;
  } catch (const c10::Error& e) {
    return TorchFailed(e);
  }
}

absl::Status LoadedRetriever::Read(const ModelPackage& package) {
  absl::StatusOr<std::vector<std::string>> vocabulary = ReadVocabulary(package, "items");
  if (!vocabulary.ok()) return vocabulary.status();
  absl::StatusOr<TensorMap> tensors = ReadWeights(package);
  if (!tensors.ok()) return tensors.status();
  const int64_t count = vocabulary->size();
  if (absl::Status names = CheckTensorNames(*tensors, shape_, count); !names.ok()) return names;
  if (absl::Status dense = ReadDense(*tensors, &dense_); !dense.ok()) return dense;
  const std::vector<NamedShape> tables = shape_.Tables(count);
  absl::StatusOr<at::Tensor> id = FromTensorMap(*tensors, tables[0]);
  if (!id.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(id.status().message(), "; the vocabulary items.txt has ", count, " entries"));
  }
  absl::StatusOr<at::Tensor> buckets = FromTensorMap(*tensors, tables[1]);
  if (!buckets.ok()) return buckets.status();
  buckets_ = *std::move(buckets);
  BindVocabulary(*vocabulary, *id);
  return absl::OkStatus();
}

void LoadedRetriever::BindVocabulary(const std::vector<std::string>& vocabulary, const at::Tensor& id) {
  std::vector<ItemOrdinal> ordinals;
  std::vector<int64_t> rows;
  for (size_t row = 0; items_ && row < vocabulary.size(); ++row) {
    const std::optional<ItemOrdinal> item = items_->Find(vocabulary[row]);
    if (!item) continue;  // trained elsewhere on items that this folder does not have
    if (row_of_.size() <= *item) row_of_.resize(*item + 1, -1);
    row_of_[*item] = static_cast<int32_t>(rows.size());
    ordinals.push_back(*item);
    rows.push_back(static_cast<int64_t>(row));
  }
  vectors_ = at::empty({static_cast<int64_t>(rows.size()), shape_.width}, at::kFloat);
  for (size_t first = 0; first < rows.size(); first += kItemsAtOnce) {
    const auto own = absl::MakeConstSpan(ordinals).subspan(first, kItemsAtOnce);
    std::vector<std::vector<uint64_t>> hashes;
    items_->Content(own, &hashes);
    hashes.resize(own.size());
    std::vector<int64_t> content_of(own.size());
    for (size_t i = 0; i < own.size(); ++i) content_of[i] = i;
    at::Tensor some, pooled;
    EncodeItems(dense_, {id, buckets_}, FoldContent(hashes, shape_.content_buckets),
                absl::MakeConstSpan(rows).subspan(first, kItemsAtOnce), content_of, &some, &pooled);
    vectors_.narrow(0, first, own.size()).copy_(some);
  }
}

void LoadedRetriever::ContentVectors(absl::Span<const ItemOrdinal> items, float* out) const {
  std::vector<std::vector<uint64_t>> hashes;
  if (items_) items_->Content(items, &hashes);
  hashes.resize(items.size());
  const std::vector<int64_t> rows(items.size(), kNoRow);
  std::vector<int64_t> content_of(items.size());
  for (size_t i = 0; i < items.size(); ++i) content_of[i] = i;
  at::Tensor made, pooled;
  EncodeItems(dense_, {vectors_, buckets_}, FoldContent(hashes, shape_.content_buckets), rows, content_of,
              &made, &pooled);
  const float* from = made.data_ptr<float>();
  std::copy_n(from, items.size() * shape_.width, out);
  std::unique_lock lock(mutex_);
  if (others_.size() + items.size() > kCachedOthers) others_.clear();
  for (size_t i = 0; i < items.size() && i < kCachedOthers; ++i) {
    others_[items[i]].assign(from + i * shape_.width, from + (i + 1) * shape_.width);
  }
}

void LoadedRetriever::Vectors(absl::Span<const ItemOrdinal> items, float* out) const {
  const size_t width = shape_.width;
  std::vector<ItemOrdinal> missing;
  std::vector<size_t> places;
  std::shared_lock<std::shared_mutex> lock(mutex_, std::defer_lock);
  for (size_t i = 0; i < items.size(); ++i) {
    const int32_t row = items[i] < row_of_.size() ? row_of_[items[i]] : -1;
    if (row >= 0) {
      std::copy_n(vectors_.data_ptr<float>() + row * width, width, out + i * width);
      continue;
    }
    if (!lock.owns_lock()) lock.lock();
    const auto found = others_.find(items[i]);
    if (found != others_.end()) {
      std::copy_n(found->second.data(), width, out + i * width);
    } else {
      missing.push_back(items[i]);
      places.push_back(i);
    }
  }
  if (lock.owns_lock()) lock.unlock();
  if (missing.empty()) return;
  std::vector<float> made(missing.size() * width);
  ContentVectors(missing, made.data());
  for (size_t i = 0; i < places.size(); ++i) {
    std::copy_n(made.data() + i * width, width, out + places[i] * width);
  }
}

absl::Status LoadedRetriever::Encode(absl::Span<const absl::Span<const HistoryEvent>> histories,
                                     float* out) const {
  UseOneIntraOpThread();
  SequenceLayout layout(shape_.time_buckets);
  std::vector<ItemOrdinal> items;
  std::vector<int64_t> times_us;
  for (absl::Span<const HistoryEvent> history : histories) {
    times_us.clear();
    for (const HistoryEvent& event : history) {
      items.push_back(event.item);
      times_us.push_back(absl::ToUnixMicros(event.time));
    }
    layout.Add(times_us);
  }
  try {
    at::InferenceMode inference;
    at::Tensor tokens = at::empty({static_cast<int64_t>(items.size()), shape_.width}, at::kFloat);
    Vectors(items, tokens.data_ptr<float>());
    const at::Tensor states = encoder_.EncodeNewest(layout, tokens, &ThreadWorkspace());
    NormalizeRows(states.data_ptr<float>(), histories.size(), shape_.width, out, nullptr);
  } catch (const c10::Error& e) {
    return TorchFailed(e);
  }
  return absl::OkStatus();
}

absl::Status LoadedRetriever::EncodeUser(absl::Span<const HistoryEvent> history, absl::Time /*now*/,
                                         absl::Span<float> out) const {
  const size_t width = shape_.width, limit = shape_.history_limit;
  if (out.size() != width) return WrongSize("the output of EncodeUser", out.size(), width);
  if (history.empty()) return absl::InvalidArgumentError("a user without a history has no vector");
  if (history.size() > limit) history.remove_prefix(history.size() - limit);
  return Encode({history}, out.data());
}

absl::Status LoadedRetriever::EncodeUsers(const std::vector<std::vector<HistoryEvent>>& histories,
                                          absl::Time /*now*/, absl::Span<float> out) const {
  const size_t width = shape_.width, limit = shape_.history_limit;
  if (out.size() != histories.size() * width) {
    return WrongSize("the output of EncodeUsers", out.size(), histories.size() * width);
  }
  std::vector<absl::Span<const HistoryEvent>> batch;
  size_t first = 0, tokens = 0;
  for (size_t u = 0; u < histories.size(); ++u) {
    if (histories[u].empty()) {
      return absl::InvalidArgumentError(absl::StrCat("history ", u, " is empty: it has no vector"));
    }
    absl::Span<const HistoryEvent> history = histories[u];
    if (history.size() > limit) history.remove_prefix(history.size() - limit);
    batch.push_back(history);
    tokens += history.size();
    if (tokens < kTokensAtOnce && u + 1 < histories.size()) continue;
    if (absl::Status encoded = Encode(batch, out.data() + first * width); !encoded.ok()) return encoded;
    batch.clear();
    first = u + 1;
    tokens = 0;
  }
  return absl::OkStatus();
}

absl::Status LoadedRetriever::EmbedItems(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const {
  const size_t width = shape_.width;
  if (out.size() != items.size() * width) {
    return WrongSize("the output of EmbedItems", out.size(), items.size() * width);
  }
  UseOneIntraOpThread();
  try {
    at::InferenceMode inference;
    std::vector<ItemOrdinal> others;
    std::vector<size_t> places;
    for (size_t i = 0; i < items.size(); ++i) {
      const int32_t row = items[i] < row_of_.size() ? row_of_[items[i]] : -1;
      if (row >= 0) {
        std::copy_n(vectors_.data_ptr<float>() + row * width, width, out.data() + i * width);
      } else {
        others.push_back(items[i]);
        places.push_back(i);
      }
    }
    std::vector<float> made(others.size() * width);
    if (!others.empty()) ContentVectors(others, made.data());
    for (size_t i = 0; i < places.size(); ++i) {
      std::copy_n(made.data() + i * width, width, out.data() + places[i] * width);
    }
    NormalizeRows(out.data(), items.size(), width, out.data(), nullptr);
  } catch (const c10::Error& e) {
    return TorchFailed(e);
  }
  return absl::OkStatus();
}

}  // namespace waymark
