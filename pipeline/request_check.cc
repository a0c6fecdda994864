#include "pipeline/request_check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "index/query_parser.h"
#include "pipeline/blending_plan.h"
#include "pipeline/group_stage.h"
#include "store/ids.h"
#include "store/package/model_package.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// What is no UTF-8 could be neither kept in a ServeRecord nor sent back.
absl::Status CheckUtf8(const char* field, const std::string& text) {
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": is '", Shortened(text), "', which is not valid UTF-8; it takes UTF-8 text"));
}

absl::Status CheckContext(const google::protobuf::Struct& context) {
  for (const auto& [key, value] : context.fields()) {
    for (const std::string* text : {&key, &value.string_value()}) {
      if (auto status = CheckUtf8("context", *text); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckId(const char* field, const std::string& id, bool may_be_empty) {
  if (id.empty() && !may_be_empty)
    return absl::InvalidArgumentError(absl::StrCat(field, ": holds an empty id"));
  if (auto status = CheckUtf8(field, id); !status.ok()) return status;
  if (id.size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": the id has ", id.size(), " bytes; ids have at most ", kMaxIdBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckIds(const char* field, const std::vector<std::string>& ids) {
  if (ids.size() > kMaxGivenItems) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", ids.size(), " ids; at most ", kMaxGivenItems));
  }
  for (const std::string& id : ids) {
    if (auto status = CheckId(field, id, false); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckLimit(const char* field, int value) {
  if (value >= 0 && value <= kMaxCandidates) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, " is outside 0..", kMaxCandidates, " (0: the release's plan)"));
}

absl::Status CheckGiven(const PipelineRequest& request) {
  if (request.kind != RequestKind::kRank) return absl::OkStatus();
  if (request.given.empty() || request.given.size() > kMaxGivenCandidates) {
    return absl::InvalidArgumentError(absl::StrCat("candidates: ", request.given.size(),
                                                   " given; a call ranks 1 to ", kMaxGivenCandidates));
  }
  for (const GivenCandidate& candidate : request.given) {
    if (auto status = CheckId("candidates.item_id", candidate.item_id, false); !status.ok()) return status;
    for (const auto& [name, value] : candidate.features) {
      if (!FindSignal(name)) {
        return absl::InvalidArgumentError(absl::StrCat("candidates.features: '", name, "' (of item '",
                                                       candidate.item_id,
                                                       "') is not a signal; see docs/ranking.md"));
      }
      if (!std::isfinite(value)) {
        return absl::InvalidArgumentError(absl::StrCat("candidates.features: '", name, "' of item '",
                                                       candidate.item_id,
                                                       "' is not a finite number; leave it out"));
      }
    }
  }
  return absl::OkStatus();
}

// Field and values are held against the schema where they are searched.
absl::Status CheckVector(const PipelineRequest& request) {
  if (!request.vector) return absl::OkStatus();
  const VectorAsked& vector = *request.vector;
  if (vector.limit < 0 || vector.limit > kMostNearest) {
    return absl::InvalidArgumentError(absl::StrCat("vector.limit: is ", vector.limit, "; it takes 1 to ",
                                                   kMostNearest, ", or 0 for ", kDefaultNearest));
  }
  if (!(vector.weight >= 0 && vector.weight <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("vector.weight: is ", vector.weight, "; it takes 0 to 1"));
  }
  return CheckUtf8("vector.field", vector.field);
}

}  // namespace

absl::Status CheckRequest(const PipelineRequest& request) {
  if (request.query.size() > kMaxQueryBytes) {
    return absl::InvalidArgumentError(absl::StrCat("query: has ", request.query.size(), " bytes; at most ",
                                                   kMaxQueryBytes,
                                                   " are taken. Send the words that matter."));
  }
  if (request.page_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size: is ", request.page_size, "; it takes 0 (the default) or more"));
  }
  if (!(request.diversity >= 0 && request.diversity <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("diversity: is ", request.diversity, "; it takes 0 to 1"));
  }
  if (!(request.exploration >= 0 && request.exploration <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("exploration: is ", request.exploration, "; it takes 0 to 1"));
  }
  if (request.exploration > 0 && request.group_by) {
    return absl::InvalidArgumentError(
        "exploration: draws items for single places, and group_by arranges them; leave one of them out");
  }
  if (request.exclude_seen.within && *request.exclude_seen.within < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("exclude_seen.within: is negative; it takes 0 (ever) or more");
  }
  for (const absl::Status& status :
       {CheckUtf8("query", request.query), CheckUtf8("filter", request.filter),
        CheckUtf8("order_by", request.order_by), CheckContext(request.context),
        CheckId("user_id", request.user_id, true), CheckId("visitor_id", request.visitor_id, true),
        CheckId("session_id", request.session_id, true), CheckId("surface", request.surface, true),
        CheckIds("context_items", request.context_items), CheckIds("positive_items", request.positive_items),
        CheckIds("negative_items", request.negative_items),
        CheckLimit("candidates.per_source", request.per_source_limit),
        CheckLimit("candidates.rank", request.rank_limit), CheckGiven(request)}) {
    if (!status.ok()) return status;
  }
  if (auto minimum = MinimumMatch::Parse(request.minimum_match); !minimum.ok()) return minimum.status();
  if (request.match_all && !request.minimum_match.empty()) {
    return absl::InvalidArgumentError(
        "minimum_match: says how many words must match, and match: ALL wants them all; leave one of them "
        "out");
  }
  if (request.relax_below < 0 || request.relax_below > kMaxRelaxBelow) {
    return absl::InvalidArgumentError(
        absl::StrCat("relax_below: is ", request.relax_below, "; it takes 0 to ", kMaxRelaxBelow));
  }
  if (request.exact_total_limit < 0) {
    return absl::InvalidArgumentError(absl::StrCat("exact_total_limit: is ", request.exact_total_limit,
                                                   "; it takes 0 (nothing is counted) or more"));
  }
  if (request.group_by && (request.group_by->limit < 0 || request.group_by->limit > kMostPerGroup)) {
    return absl::InvalidArgumentError(absl::StrCat("group_by.limit: is ", request.group_by->limit,
                                                   "; it takes 1 to ", kMostPerGroup, ", or 0 for 1"));
  }
  if (auto status = CheckVector(request); !status.ok()) return status;
  if (!request.order_by.empty()) {
    if (request.explain) {
      return absl::InvalidArgumentError(
          "explain: says how ranking came about, and order_by takes its place; leave one of them out");
    }
    if (request.per_source_limit != 0 || request.rank_limit != 0) {
      return absl::InvalidArgumentError(
          "candidates: limits what is ranked, and order_by sorts all that match; leave one of them out");
    }
  }
  if (request.personalization == PersonalizationMode::kSessionOnly && request.session_id.empty()) {
    return absl::InvalidArgumentError(
        "session_id: is empty; SESSION_ONLY needs the session whose events count");
  }
  return absl::OkStatus();
}

int EffectivePageSize(const PipelineRequest& request) {
  if (request.kind == RequestKind::kRank) return static_cast<int>(kMaxGivenCandidates);
  if (request.page_size == 0) {
    return request.kind == RequestKind::kSearch ? kDefaultSearchPage : kDefaultFeedPage;
  }
  return std::min(request.page_size, kMaxPageSize);
}

std::string RequestFingerprint(const PipelineRequest& request) {
  std::string text =
      absl::StrCat(static_cast<int>(request.kind), "\n", request.match_all, "\n", request.strict_filter, "\n",
                   request.diversity, "\n", static_cast<int>(request.personalization), "\n", request.release,
                   "\n", static_cast<int>(request.typo_tolerance), "\n", request.per_source_limit, "\n",
                   request.rank_limit, "\n", static_cast<int>(request.curation), "\n", request.relax_below,
                   "\n", request.exploration, "\n", request.exact_total_limit, "\n");
  const auto add = [&text](const std::string& value) {
    absl::StrAppend(&text, value.size(), ":", value, "\n");
  };
  for (const std::string* value :
       {&request.query, &request.user_id, &request.visitor_id, &request.session_id, &request.surface,
        &request.filter, &request.order_by, &request.minimum_match}) {
    add(*value);
  }
  if (request.vector) {
    add(request.vector->field);
    add(std::string(reinterpret_cast<const char*>(request.vector->values.data()),
                    request.vector->values.size() * sizeof(float)));
    absl::StrAppend(&text, request.vector->limit, " ", static_cast<int>(request.vector->fusion), " ",
                    request.vector->weight, "\n");
  }
  if (request.group_by) {
    add(request.group_by->field);
    absl::StrAppend(&text, request.group_by->limit, "\n");
  }
  for (const auto* ids : {&request.context_items, &request.positive_items, &request.negative_items,
                          &request.exclude_seen.types}) {
    absl::StrAppend(&text, ids->size(), "\n");
    for (const std::string& id : *ids) add(id);
  }
  absl::StrAppend(&text, request.exclude_seen.disabled, "\n",
                  request.exclude_seen.within ? absl::FormatDuration(*request.exclude_seen.within) : "ever",
                  "\n");
  return Sha256Hex(text);
}

}  // namespace waymark
