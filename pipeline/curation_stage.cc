#include "pipeline/curation_stage.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

class Curation {
 public:
  explicit Curation(const CurationBase& base) : base_(base) {}

  Curated Run(const RuleSet::Rules& rules) {
    // Filters hold for all, whichever rule brings them.
    for (const auto& rule : rules) {
      const auto passing = Evaluate(*rule, rule->record.added_filter(), "added_filter");
      if (!passing) continue;
      allowed_ = allowed_ ? std::make_shared<const ItemSet>(ItemSet::Both(*allowed_, *passing)) : passing;
    }
    for (const auto& rule : rules) Take(*rule);
    if (hides_) {
      const std::shared_ptr<const ItemSet> all = allowed_ ? allowed_ : base_.catalog->LiveItems();
      allowed_ = std::make_shared<const ItemSet>(ItemSet::Without(*all, hidden_));
    }
    out_.allowed = allowed_;
    return std::move(out_);
  }

 private:
  void Take(const CompiledRule& rule) {
    const storage::RuleRecord& record = rule.record;
    out_.rules.push_back(rule.id);
    if (out_.redirect_uri.empty()) out_.redirect_uri = record.redirect_uri();
    if (out_.replacement_query.empty()) out_.replacement_query = record.replacement_query();
    for (const auto& pin : record.pins()) AddPin(pin);
    Hide(rule);
    for (const auto& boost : record.boosts()) {
      if (!boost.filter().empty()) {
        const auto items = Evaluate(rule, boost.filter(), "boosts.filter");
        if (items) out_.boosts.push_back({items, boost.factor()});
      } else {
        out_.boosts.push_back(
            {std::make_shared<const ItemSet>(ItemSet::Of(Find(boost.items()))), boost.factor()});
      }
    }
  }

  void AddPin(const storage::RuleRecord::Pin& pin) {
    const auto item = base_.store->FindItem(base_.scope, pin.item_id());
    if (!item || !base_.catalog->Live(*item) || pinned_.contains(*item) || hidden_.Contains(*item)) return;
    if (allowed_ && !allowed_->Contains(*item)) return;
    if (base_.filter != nullptr && !base_.catalog->Passes(*base_.filter, *item)) return;
    if (std::binary_search(base_.excluded->begin(), base_.excluded->end(), *item)) return;
    pinned_.insert(*item);
    out_.pins.push_back({*item, static_cast<size_t>(pin.position() - 1)});
  }

  // What an earlier rule, or this one by name, has pinned stays.
  void Hide(const CompiledRule& rule) {
    const storage::RuleRecord& record = rule.record;
    ItemSet hidden = ItemSet::Of(Find(record.hidden_items()));
    if (const auto items = Evaluate(rule, record.hidden_filter(), "hidden_filter")) {
      hidden = ItemSet::Either(hidden, *items);
    }
    if (hidden.Size() == 0) return;
    hides_ = true;
    const ItemSet pinned = ItemSet::Of({pinned_.begin(), pinned_.end()});
    hidden_ = ItemSet::Either(hidden_, ItemSet::Without(hidden, pinned));
  }

  std::vector<ItemOrdinal> Find(const google::protobuf::RepeatedPtrField<std::string>& ids) const {
    std::vector<ItemOrdinal> items;
    for (const std::string& id : ids) {
      if (const auto item = base_.store->FindItem(base_.scope, id)) items.push_back(*item);
    }
    return items;
  }

  // Null: no filter, or one that cannot be read any more, which is said.
  std::shared_ptr<const ItemSet> Evaluate(const CompiledRule& rule, const std::string& filter,
                                          const char* field) {
    if (filter.empty()) return nullptr;
    auto compiled = base_.catalog->CompileFilter(filter);
    if (compiled.ok()) return base_.catalog->Evaluate(**compiled);
    out_.degraded.push_back({"curation", absl::StrCat("rule '", rule.id, "' counts without its ", field, ": ",
                                                      std::string(compiled.status().message()))});
    return nullptr;
  }

  const CurationBase& base_;
  Curated out_;
  absl::flat_hash_set<ItemOrdinal> pinned_;
  ItemSet hidden_;
  bool hides_ = false;
  std::shared_ptr<const ItemSet> allowed_;  // by added filters; null: all
};

}  // namespace

Curated Curate(const RuleSet::Rules& rules, const CurationBase& base) { return Curation(base).Run(rules); }

std::vector<double> FactorsOf(absl::Span<const ItemOrdinal> items, absl::Span<const CuratedBoost> boosts) {
  std::vector<double> factors(items.size(), 1.0);
  for (const CuratedBoost& boost : boosts) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (boost.items->Contains(items[i])) factors[i] *= boost.factor;
    }
  }
  return factors;
}

}  // namespace waymark
