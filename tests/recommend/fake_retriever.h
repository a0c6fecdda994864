// A retriever whose vectors are given: for tests of what stands around one.
#pragma once
#include <cmath>
#include <mutex>
#include <set>

#include "recommend/retriever.h"

namespace waymark::tests {

// The vector of an item is drawn from its ordinal; a user's is that of the last item.
class FakeRetriever : public Retriever {
 public:
  explicit FakeRetriever(std::string sha256 = std::string(64, 'a'), int width = 8)
      : sha256_(std::move(sha256)), width_(width) {}

  const std::string& content_sha256() const override { return sha256_; }
  const std::string& version() const override { return version_; }
  int width() const override { return width_; }
  int history_limit() const override { return 50; }
  absl::Status EncodeUser(absl::Span<const HistoryEvent> history, absl::Time,
                          absl::Span<float> out) const override {
    return EmbedItems(std::vector<ItemOrdinal>{history.back().item}, out);
  }
  absl::Status EncodeUsers(const std::vector<std::vector<HistoryEvent>>& histories, absl::Time now,
                           absl::Span<float> out) const override {
    for (size_t i = 0; i < histories.size(); ++i) {
      auto status = EncodeUser(histories[i], now,
                               out.subspan(i * static_cast<size_t>(width_), static_cast<size_t>(width_)));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status EmbedItems(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const override {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < items.size(); ++i) {
      ++embedded_;
      double squares = 0;
      auto row = out.subspan(i * static_cast<size_t>(width_), static_cast<size_t>(width_));
      const int turn = turned_.contains(items[i]) ? 1 : 0;
      for (int d = 0; d < width_; ++d) {
        row[static_cast<size_t>(d)] = static_cast<float>(std::sin(1.7 * items[i] + 0.9 * d + turn));
        squares += row[static_cast<size_t>(d)] * row[static_cast<size_t>(d)];
      }
      for (float& x : row) x /= static_cast<float>(std::sqrt(squares));
    }
    return absl::OkStatus();
  }
  // The item's content has changed: it has another vector from now on.
  void Turn(ItemOrdinal item) {
    std::lock_guard lock(mutex_);
    turned_.insert(item);
  }
  size_t embedded() const {
    std::lock_guard lock(mutex_);
    return embedded_;
  }

 private:
  const std::string sha256_, version_ = "fake";
  const int width_;
  mutable std::mutex mutex_;
  mutable size_t embedded_ = 0;
  std::set<ItemOrdinal> turned_;
};

}  // namespace waymark::tests
