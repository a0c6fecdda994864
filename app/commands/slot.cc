#include <google/protobuf/util/json_util.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "app/commands/target_command.h"
#include "app/decision_options.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/text_table.h"
#include "store/rows/field_mapping.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {
namespace slot_command {
namespace {

constexpr const char* kService = "waymark.v1.CurationService.";

struct Options {
  Target target;
  std::string slot, variant, entry, by, reason, page_token;
  std::string user, visitor, session, surface, shown_variant;
  std::vector<std::string> context, arms;
  int page_size = 0;
};

int PrintSlot(const Options& options, const v1::Slot& slot) {
  if (options.target.json) return PrintJson(slot);
  std::printf(
      "slot %s shows %s%s\n", slot.id().c_str(), slot.active().empty() ? "nothing" : slot.active().c_str(),
      slot.fallbacks().empty()
          ? ""
          : absl::StrCat("; where that is not valid or not meant: ", absl::StrJoin(slot.fallbacks(), ", "))
                .c_str());
  return kDone;
}

// What every request about the slot says.
template <class Request>
Request RequestOf(const Options& options) {
  Request request;
  request.set_parent(Parent(options.target));
  request.set_slot(options.slot);
  return request;
}

// And what a page of a list does.
template <class Request>
Request Page(Request request, const Options& options) {
  request.set_page_size(options.page_size);
  request.set_page_token(options.page_token);
  return request;
}

// Activating and rolling back answer the slot.
template <class Request>
int Decide(const Options& options, Backend* backend, const std::string& method, Request request) {
  request.set_by(WhoDecides(options.by));
  request.set_reason(options.reason);
  v1::Slot slot;
  auto status = backend->Call(absl::StrCat(kService, method), request, &slot);
  return status.ok() ? PrintSlot(options, slot) : Fail(status);
}

std::string JsonOf(const google::protobuf::Message& message) {
  std::string text;
  return google::protobuf::util::MessageToJsonString(message, &text).ok() ? text : std::string();
}

std::string ValidityText(const v1::SlotVariant& variant) {
  const std::string from = variant.has_valid_from() ? TimeText(variant.valid_from()) : "";
  const std::string until = variant.has_valid_until() ? TimeText(variant.valid_until()) : "";
  if (from.empty() && until.empty()) return "always";
  return absl::StrCat(from, " - ", until);
}

// A payload alone, or a whole variant.
absl::Status ReadEntry(const std::string& text, v1::SlotVariant* variant) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("JSON: it is no JSON object");
  google::protobuf::Message* into = variant;
  if (!json.contains("payload")) {
    for (const char* name : {"targeting", "valid_from", "valid_until"}) {
      if (json.contains(name))
        return absl::InvalidArgumentError(
            absl::StrCat("JSON: it has '", name, "' and no 'payload'; put what is shown into 'payload'"));
    }
    into = variant->mutable_payload();
  }
  const auto status = google::protobuf::util::JsonStringToMessage(text, into);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("JSON: ", std::string(status.message())));
}

int Put(const Options& options, Backend* backend) {
  auto request = RequestOf<v1::PutSlotVariantRequest>(options);
  request.set_id(options.variant);
  if (auto status = ReadEntry(options.entry, request.mutable_variant()); !status.ok())
    return FailUsage(std::string(status.message()));
  v1::SlotVariant written;
  auto status = backend->Call(absl::StrCat(kService, "PutSlotVariant"), request, &written);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(written);
  std::printf("variant %s of slot %s, revision %lld; `waymark slot activate` shows it\n",
              written.id().c_str(), written.slot().c_str(), static_cast<long long>(written.revision()));
  return kDone;
}

int ListSlots(const Options& options, Backend* backend) {
  v1::ListSlotsRequest request;
  request.set_parent(Parent(options.target));
  request = Page(std::move(request), options);
  v1::ListSlotsResponse response;
  auto status = backend->Call(absl::StrCat(kService, "ListSlots"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  TextTable table({{"slot", TextTable::kWhole},
                   {"shows", TextTable::kWhole},
                   {"else", TextTable::kText},
                   {"since", TextTable::kWhole},
                   {"by", TextTable::kText}});
  for (const v1::Slot& slot : response.slots()) {
    const v1::Slot::Activation newest =
        slot.activations().empty() ? v1::Slot::Activation() : *slot.activations().rbegin();
    table.Add({slot.id(), slot.active(), absl::StrJoin(slot.fallbacks(), ", "), TimeText(newest.time()),
               newest.by()});
  }
  std::fputs(response.slots().empty() ? "no slot shows anything\n" : table.Render(TerminalWidth()).c_str(),
             stdout);
  if (!response.next_page_token().empty())
    std::printf("more: --page-token %s\n", response.next_page_token().c_str());
  return kDone;
}

int ListVariants(const Options& options, Backend* backend) {
  const auto request = Page(RequestOf<v1::ListSlotVariantsRequest>(options), options);
  v1::ListSlotVariantsResponse response;
  auto status = backend->Call(absl::StrCat(kService, "ListSlotVariants"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  TextTable table({{"variant", TextTable::kWhole},
                   {"valid", TextTable::kWhole},
                   {"meant for", TextTable::kText},
                   {"payload", TextTable::kText}});
  for (const v1::SlotVariant& variant : response.variants()) {
    table.Add({variant.id(), ValidityText(variant),
               variant.targeting().empty() ? "everybody" : variant.targeting(), JsonOf(variant.payload())});
  }
  std::fputs(response.variants().empty() ? "no variants\n" : table.Render(TerminalWidth()).c_str(), stdout);
  if (!response.next_page_token().empty())
    std::printf("more: --page-token %s\n", response.next_page_token().c_str());
  return kDone;
}

int List(const Options& options, Backend* backend) {
  return options.slot.empty() ? ListSlots(options, backend) : ListVariants(options, backend);
}

int Delete(const Options& options, Backend* backend) {
  auto request = RequestOf<v1::DeleteSlotVariantRequest>(options);
  request.set_id(options.variant);
  v1::DeleteSlotVariantResponse response;
  auto status = backend->Call(absl::StrCat(kService, "DeleteSlotVariant"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::printf("deleted variant %s of slot %s\n", options.variant.c_str(), options.slot.c_str());
  return kDone;
}

int Activate(const Options& options, Backend* backend) {
  auto request = RequestOf<v1::ActivateSlotVariantRequest>(options);
  request.set_variant(options.variant);
  return Decide(options, backend, "ActivateSlotVariant", std::move(request));
}

int Rollback(const Options& options, Backend* backend) {
  return Decide(options, backend, "RollbackSlot", RequestOf<v1::RollbackSlotRequest>(options));
}

int Get(const Options& options, Backend* backend) {
  auto request = RequestOf<v1::GetSlotRequest>(options);
  request.set_user_id(options.user);
  request.set_visitor_id(options.visitor);
  request.set_session_id(options.session);
  request.set_surface(options.surface);
  request.set_variant(options.shown_variant);
  for (const std::string& text : options.context) {
    auto constant = ParseConstant(text);
    if (!constant.ok())
      return FailUsage(absl::StrCat("--context: ", std::string(constant.status().message())));
    (*request.mutable_context()->mutable_fields())[constant->first] = constant->second;
  }
  for (const std::string& text : options.arms) {
    const std::pair<std::string, std::string> asked = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (asked.first.empty() || asked.second.empty())
      return FailUsage(absl::StrCat("--arm: '", text, "' is not EXPERIMENT=ARM"));
    (*request.mutable_experiment_arms())[asked.first] = asked.second;
  }
  v1::GetSlotResponse response;
  auto status = backend->Call(absl::StrCat(kService, "GetSlot"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  if (response.variant().empty()) {
    std::printf("nothing is shown here\n");
    return kDone;
  }
  std::printf("variant %s: %s\n", response.variant().c_str(), JsonOf(response.payload()).c_str());
  for (const v1::ServedArm& arm : response.arms())
    std::printf("experiment %s, arm %s (%s)\n", arm.experiment().c_str(), arm.arm().c_str(),
                arm.reason().c_str());
  return kDone;
}

}  // namespace
}  // namespace slot_command

void AddSlot(CLI::App* app, Run* run) {
  using namespace slot_command;
  CLI::App* group =
      AddCommandGroup(app, "slot", "Content slots: put, list, activate, rollback, get, delete",
                      "  waymark slot put hero summer '{\"image\": \"/summer.png\"}' --data DIR\n"
                      "  waymark slot activate hero summer --data DIR");
  auto options = std::make_shared<Options>();
  CLI::App* put =
      AddTargetCommand(group, run, "put", "Create or replace a variant; nobody sees it yet",
                       "  waymark slot put hero summer '{\"image\": \"/summer.png\"}' --data DIR\n"
                       "  waymark slot put hero dutch '{\"payload\": {\"image\": \"/nl.png\"},\n"
                       "      \"targeting\": \"country = \\\"nl\\\"\"}' --data DIR",
                       options, Access::kCreate, Put);
  CLI::App* list = AddTargetCommand(group, run, "list", "Slots and what they show; with a SLOT, its variants",
                                    "  waymark slot list hero --data DIR", options, Access::kRead, List);
  CLI::App* activate =
      AddTargetCommand(group, run, "activate", "Show a variant to everybody it is meant for",
                       "  waymark slot activate hero summer --reason 'it is June' --data DIR", options,
                       Access::kWrite, Activate);
  CLI::App* rollback = AddTargetCommand(group, run, "rollback", "Go back to what the slot showed before",
                                        "  waymark slot rollback hero --reason 'broken image' --data DIR",
                                        options, Access::kWrite, Rollback);
  CLI::App* get = AddTargetCommand(group, run, "get", "What a slot shows somebody",
                                   "  waymark slot get hero --user u1 --context country=nl --data DIR",
                                   options, Access::kRead, Get);
  CLI::App* remove =
      AddTargetCommand(group, run, "delete", "Delete a variant that is not shown",
                       "  waymark slot delete hero summer --data DIR", options, Access::kWrite, Delete);
  for (CLI::App* command : {put, activate, rollback, get, remove})
    command->add_option("slot", options->slot, "the slot")->required()->type_name("SLOT");
  for (CLI::App* command : {put, activate, remove})
    command->add_option("variant", options->variant, "its variant")->required()->type_name("VARIANT");
  put->add_option("entry", options->entry,
                  "JSON: a payload, or {\"payload\", \"targeting\", \"valid_from\", ...}")
      ->required()
      ->type_name("JSON");
  list->add_option("slot", options->slot, "the slot; none: all slots")->type_name("SLOT");
  list->add_option("-n,--limit", options->page_size, "entries of the page (at most 1,000)")->type_name("N");
  list->add_option("--page-token", options->page_token, "the page after the one that named it")
      ->type_name("TOKEN");
  for (CLI::App* command : {activate, rollback}) {
    AddByOption(command, &options->by);
    command->add_option("--reason", options->reason, "recorded")->type_name("TEXT");
  }
  get->add_option("--user", options->user, "for whom")->type_name("ID");
  get->add_option("--visitor", options->visitor, "for whom, while nobody is known")->type_name("ID");
  get->add_option("--session", options->session, "in which session")->type_name("ID");
  get->add_option("--surface", options->surface, "where it stands")->type_name("NAME");
  get->add_option("--context", options->context, "what targeting reads")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  get->add_option("--variant", options->shown_variant, "testers: this one")->type_name("VARIANT");
  get->add_option("--arm", options->arms, "testers: this arm of an experiment")
      ->type_name("EXPERIMENT=ARM")
      ->allow_extra_args(false);
}

}  // namespace waymark
