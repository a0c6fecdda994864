#include "curation/rule_set.h"

#include <algorithm>
#include <utility>

namespace waymark {
namespace {

using storage::RuleRecord;

bool Holds(const CompiledRule& rule, const RuleQuestion& question) {
  const int64_t now = absl::ToUnixMicros(question.now);
  const RuleRecord& record = rule.record;
  if (now < record.valid_from_us()) return false;
  if (record.valid_until_us() != 0 && now >= record.valid_until_us()) return false;
  return rule.context.everybody() || rule.context.Matches(*question.context);
}

// A place of the query where the words of the rule stand.
struct Place {
  bool first = false, last = false;  // at its beginning, at its end
};

bool Fits(RuleRecord::Match match, const Place& place) {
  switch (match) {
    case RuleRecord::EXACT:
      return place.first && place.last;
    case RuleRecord::BEGINS:
      return place.first;
    case RuleRecord::CONTAINS:
      return true;
    default:
      return false;
  }
}

bool CountsBefore(const std::shared_ptr<const CompiledRule>& a,
                  const std::shared_ptr<const CompiledRule>& b) {
  if (a->record.priority() != b->record.priority()) return a->record.priority() > b->record.priority();
  return a->id < b->id;
}

bool LessId(const std::shared_ptr<const CompiledRule>& a, const std::shared_ptr<const CompiledRule>& b) {
  return a->id < b->id;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledRule>> CompileRule(const storage::CurationRecord& record,
                                                                const Analyzer& analyzer) {
  auto context = Targeting::Parse(record.rule().context_filter(), {}, "rule.condition.filter");
  if (!context.ok()) return context.status();
  std::vector<std::string> terms;
  if (record.rule().match() != RuleRecord::ANY) {
    TermList list;
    analyzer.Analyze(record.rule().query(), 0, &list);
    for (size_t i = 0; i < list.size(); ++i) terms.emplace_back(list.term(i));
  }
  return std::make_shared<const CompiledRule>(
      CompiledRule{record.id(), record.rule(), std::move(terms), *std::move(context)});
}

RuleSet RuleSet::With(const Rules& removed, const Rules& added) const {
  SequenceMap<CompiledRule>::Edit edit(by_words_);
  Rules any = any_ ? *any_ : Rules();
  for (const auto& rule : removed) {
    if (!rule->terms.empty()) {
      edit.Remove(rule->terms, rule->id);
    } else {
      std::erase_if(any, [&](const auto& other) { return other->id == rule->id; });
    }
  }
  for (const auto& rule : added) {
    if (!rule->terms.empty()) {
      edit.Add(rule->terms, rule);
    } else if (rule->record.match() == RuleRecord::ANY) {
      any.insert(std::upper_bound(any.begin(), any.end(), rule, LessId), rule);
    }  // else its words are none to the analysis that there is now: no query has them
  }
  RuleSet set;
  set.by_words_ = edit.Finish();
  if (!any.empty()) set.any_ = std::make_shared<const Rules>(std::move(any));
  return set;
}

RuleSet::Rules RuleSet::Match(const RuleQuestion& question) const {
  Rules found;
  if (any_) {
    for (const auto& rule : *any_) {
      if (Holds(*rule, question)) found.push_back(rule);
    }
  }
  for (size_t begin = 0; begin < question.terms.size(); ++begin) {
    SequenceMap<CompiledRule>::Walk walk(by_words_);
    for (size_t end = begin; end < question.terms.size() && walk.Step(question.terms[end]); ++end) {
      const Place place{begin == 0, end + 1 == question.terms.size()};
      for (const auto& rule : walk.values()) {
        if (Fits(rule->record.match(), place) && Holds(*rule, question)) found.push_back(rule);
      }
      if (!walk.may_go_on()) break;
    }
  }
  std::sort(found.begin(), found.end(), CountsBefore);
  // Words that stand in several places of a query are found in each.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

size_t RuleSet::CountOfSameWords(const CompiledRule& rule) const {
  if (rule.terms.empty()) return any_ ? any_->size() : 0;
  SequenceMap<CompiledRule>::Walk walk(by_words_);
  for (const std::string& term : rule.terms) {
    if (!walk.Step(term)) return 0;
  }
  return walk.values().size();
}

}  // namespace waymark
