// How a list is made from its texts, written down, and read again.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "suggest/completion_list.h"
#include "suggest/completion_text.h"

namespace waymark {
namespace {

constexpr size_t kTextsPerLook = 4096;  // at `stop`
// Of a text, beginnings that are kept: far more words than a title has.
constexpr size_t kMaxBeginnings = 64;

// Sources of one text, side by side.
struct Group {
  size_t first = 0, count = 0;
  FoldedText folded;
};

struct Beginning {
  uint64_t head;  // the first 8 bytes, which settle most comparisons
  uint32_t at, entry;
};

uint64_t Head(std::string_view text) {
  unsigned char bytes[8] = {};
  std::memcpy(bytes, text.data(), std::min<size_t>(text.size(), 8));
  uint64_t head = 0;
  for (const unsigned char byte : bytes) head = head << 8 | byte;
  return head;
}

bool Heavier(const CompletionSource& a, const CompletionSource& b) {
  return std::tuple(-a.weight, a.item) < std::tuple(-b.weight, b.item);
}

}  // namespace

std::shared_ptr<const CompletionList> CompletionList::Build(std::vector<CompletionSource> sources,
                                                            absl::FunctionRef<bool()> stop) {
  std::sort(sources.begin(), sources.end(), [](const CompletionSource& a, const CompletionSource& b) {
    const int order = a.text.compare(b.text);
    return order != 0 ? order < 0 : Heavier(a, b);
  });
  std::vector<Group> groups;
  for (size_t i = 0; i < sources.size();) {
    size_t end = i + 1;
    while (end < sources.size() && sources[end].text == sources[i].text) ++end;
    if (groups.size() % kTextsPerLook == 0 && stop()) return nullptr;
    if (sources[i].text.size() <= kMaxCompletionBytes) {
      FoldedText folded = FoldForCompletion(sources[i].text);
      if (!folded.words.empty()) groups.push_back({i, end - i, std::move(folded)});
    }
    i = end;
  }
  std::vector<uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    const CompletionSource &a = sources[groups[x].first], &b = sources[groups[y].first];
    return std::tuple(-a.weight, groups[x].folded.folded.size(), std::string_view(a.text)) <
           std::tuple(-b.weight, groups[y].folded.folded.size(), std::string_view(b.text));
  });
  if (stop()) return nullptr;

  std::shared_ptr<CompletionList> list(new CompletionList);
  std::vector<Beginning> beginnings;
  for (const uint32_t g : order) {
    const Group& group = groups[g];
    // Places are 32-bit numbers: the heaviest 4 GB.
    const size_t bytes = std::max(list->text_.size(), list->folded_.size());
    if (bytes > UINT32_MAX - 16 * kMaxCompletionBytes) break;
    const auto e = static_cast<uint32_t>(list->weights_.size());
    list->weights_.push_back(sources[group.first].weight);
    list->text_begin_.push_back(static_cast<uint32_t>(list->text_.size()));
    list->text_.append(sources[group.first].text);
    const auto begin = static_cast<uint32_t>(list->folded_.size());
    list->folded_begin_.push_back(begin);
    list->folded_.append(group.folded.folded).push_back('\0');
    list->items_begin_.push_back(static_cast<uint32_t>(list->items_.size()));
    for (size_t i = group.first; i < group.first + group.count; ++i) {
      if (sources[i].item != kNoItem) list->items_.push_back(sources[i].item);
    }
    for (size_t w = 0; w < std::min(group.folded.words.size(), kMaxBeginnings); ++w) {
      const size_t place = group.folded.words[w].folded;
      beginnings.push_back({Head(std::string_view(group.folded.folded).substr(place)),
                            begin + static_cast<uint32_t>(place), w == 0 ? e | kStart : e});
    }
  }
  list->text_begin_.push_back(static_cast<uint32_t>(list->text_.size()));
  list->folded_begin_.push_back(static_cast<uint32_t>(list->folded_.size()));
  list->items_begin_.push_back(static_cast<uint32_t>(list->items_.size()));
  groups = {};
  sources = {};
  if (stop()) return nullptr;
  const char* folded = list->folded_.data();
  std::sort(beginnings.begin(), beginnings.end(), [folded](const Beginning& a, const Beginning& b) {
    if (a.head != b.head) return a.head < b.head;
    // They end with a zero byte, which the heads hold too where a text is short.
    const int order = std::strcmp(folded + a.at, folded + b.at);
    if (order != 0) return order < 0;
    return std::tuple((a.entry & kStart) == 0, a.entry & ~kStart) <
           std::tuple((b.entry & kStart) == 0, b.entry & ~kStart);
  });
  list->at_.reserve(beginnings.size());
  list->entries_.reserve(beginnings.size());
  for (const Beginning& beginning : beginnings) {
    list->at_.push_back(beginning.at);
    list->entries_.push_back(beginning.entry);
  }
  list->text_.shrink_to_fit();
  list->folded_.shrink_to_fit();
  list->items_.shrink_to_fit();
  list->MakeTrees();
  return list;
}

void CompletionList::Save(CheckedWriter* writer) const {
  writer->PutText(text_);
  writer->PutText(folded_);
  for (const auto* numbers : {&text_begin_, &folded_begin_, &items_begin_, &items_, &at_, &entries_}) {
    writer->PutArray(absl::MakeConstSpan(*numbers));
  }
  writer->PutArray(absl::MakeConstSpan(weights_));
}

absl::StatusOr<std::shared_ptr<const CompletionList>> CompletionList::Load(CheckedReader* reader) {
  std::shared_ptr<CompletionList> list(new CompletionList);
  absl::Status status = reader->GetText(&list->text_);
  status.Update(reader->GetText(&list->folded_));
  for (auto* numbers : {&list->text_begin_, &list->folded_begin_, &list->items_begin_, &list->items_,
                        &list->at_, &list->entries_}) {
    if (status.ok()) status.Update(reader->GetArray(numbers));
  }
  if (status.ok()) status.Update(reader->GetArray(&list->weights_));
  if (!status.ok()) return status;
  if (!list->Consistent()) return reader->Damaged("holds numbers that point nowhere");
  list->MakeTrees();
  return std::shared_ptr<const CompletionList>(std::move(list));
}

bool CompletionList::Consistent() const {
  const size_t entries = weights_.size();
  const auto rises = [entries](const std::vector<uint32_t>& begin, size_t end) {
    return begin.size() == entries + 1 && begin.front() == 0 && begin.back() == end &&
           std::is_sorted(begin.begin(), begin.end());
  };
  if (!rises(text_begin_, text_.size()) || !rises(folded_begin_, folded_.size()) ||
      !rises(items_begin_, items_.size()) || entries_.size() != at_.size()) {
    return false;
  }
  for (size_t e = 0; e < entries; ++e) {
    if (folded_begin_[e] == folded_begin_[e + 1] || folded_[folded_begin_[e + 1] - 1] != '\0') return false;
    if (!(weights_[e] >= 0)) return false;
  }
  for (size_t i = 0; i < at_.size(); ++i) {
    const size_t e = entry(i);
    if (e >= entries || at_[i] < folded_begin_[e] || at_[i] + 1 >= folded_begin_[e + 1]) return false;
  }
  return true;
}

}  // namespace waymark
