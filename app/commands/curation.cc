#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/curation_entries.h"
#include "app/curation_files.h"
#include "app/curation_table.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/stop_signal.h"
#include "app/target.h"
#include "store/rows/row_writer.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {
namespace curation_command {
namespace {

constexpr const char* kService = "waymark.v1.CurationService.";

struct Options {
  Target target;
  std::string kind, text, id, file, page_token;
  std::vector<std::string> ids;
  int page_size = 0;
  bool strict = false;
  bool synonyms() const { return kind == "synonyms"; }
  CurationEntries entries() const {
    return synonyms() ? CurationEntries::kSynonyms : CurationEntries::kRules;
  }
};

template <class Request, class Response>
int ListPage(const Options& options, const char* method, std::string (*text)(const Response&),
             Backend* backend) {
  Request request;
  request.set_parent(Parent(options.target));
  request.set_page_size(options.page_size);
  request.set_page_token(options.page_token);
  Response response;
  auto status = backend->Call(absl::StrCat(kService, method), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::fputs(text(response).c_str(), stdout);
  return kDone;
}

int List(const Options& options, Backend* backend) {
  if (options.synonyms()) {
    return ListPage<v1::ListSynonymsRequest>(options, "ListSynonyms", SynonymTableText, backend);
  }
  return ListPage<v1::ListRulesRequest>(options, "ListRules", RuleTableText, backend);
}

template <class Request, class Entry>
int PutEntry(const Options& options, const char* method, absl::StatusOr<Entry> entry, Request request,
             Entry* (Request::*mutable_entry)(), Backend* backend) {
  if (!entry.ok()) return FailUsage(absl::StrCat("ENTRY ", std::string(entry.status().message())));
  if (!options.id.empty() && !entry->id().empty() && options.id != entry->id()) {
    return FailUsage("--id and the entry name different ids");
  }
  if (!options.id.empty()) entry->set_id(options.id);
  if (entry->id().empty()) return FailUsage("the entry has no id; give it one with --id");
  request.set_parent(Parent(options.target));
  request.set_id(entry->id());
  *(request.*mutable_entry)() = *std::move(entry);
  Entry written;
  auto status = backend->Call(absl::StrCat(kService, method), request, &written);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(written);
  std::printf("%s, revision %lld\n", written.id().c_str(), static_cast<long long>(written.revision()));
  return kDone;
}

int Put(const Options& options, Backend* backend) {
  if (options.synonyms()) {
    return PutEntry(options, "PutSynonym", ReadSynonym(options.text), v1::PutSynonymRequest(),
                    &v1::PutSynonymRequest::mutable_synonym, backend);
  }
  return PutEntry(options, "PutRule", ReadRule(options.text), v1::PutRuleRequest(),
                  &v1::PutRuleRequest::mutable_rule, backend);
}

template <class Request, class Response>
absl::Status DeleteEntry(const Options& options, const std::string& id, const char* method,
                         Backend* backend) {
  Request request;
  request.set_parent(Parent(options.target));
  request.set_id(id);
  Response response;
  return backend->Call(absl::StrCat(kService, method), request, &response);
}

int Delete(const Options& options, Backend* backend) {
  for (const std::string& id : options.ids) {
    auto status = options.synonyms() ? DeleteEntry<v1::DeleteSynonymRequest, v1::DeleteSynonymResponse>(
                                           options, id, "DeleteSynonym", backend)
                                     : DeleteEntry<v1::DeleteRuleRequest, v1::DeleteRuleResponse>(
                                           options, id, "DeleteRule", backend);
    if (!status.ok()) return Fail(status);
  }
  if (options.target.json) return PrintJson(absl::StrCat("{\"deleted\": ", options.ids.size(), "}"));
  Say(absl::StrCat("deleted ", options.ids.size()));
  return kDone;
}

// The file first, so that a mistyped name leaves no data folder behind.
int Import(const Options& options) {
  auto source = ByteSource::Open(options.file);
  if (!source.ok()) return Fail(source.status());
  auto backend = OpenTarget(options.target, Access::kCreate);
  if (!backend.ok()) return Fail(backend.status());
  CurationFile file{options.file, Parent(options.target), options.entries(), options.strict};
  CurationReport report;
  StopSignal stop;
  auto status = ImportCuration(
      file, source->get(), backend->get(), [&stop] { return stop.Requested(); }, &report);
  if (options.target.json && status.ok()) {
    return PrintJson(absl::StrCat("{\"written\": ", report.written, ", \"refused\": ", report.refused, "}"));
  }
  Say(absl::StrCat("wrote ", WithThousands(report.written), " ", options.kind,
                   report.refused > 0 ? absl::StrCat(", refused ", WithThousands(report.refused)) : ""));
  return status.ok() ? kDone : Fail(status);
}

int Export(const Options& options, Backend* backend) {
  if (options.file == "-" && options.target.json)
    return FailUsage("--json and FILE - both write to standard output");
  auto writer = RowWriter::Open(options.file);
  if (!writer.ok()) return Fail(writer.status());
  StopSignal stop;
  auto status = ForEachCurationLine(options.entries(), Parent(options.target), backend,
                                    [&](const std::string& line) -> absl::Status {
                                      if (stop.Requested())
                                        return absl::CancelledError("stopped; nothing is left of the file");
                                      return (*writer)->WriteLine(line);
                                    });
  if (status.ok()) status = (*writer)->Close();
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(absl::StrCat("{\"rows\": ", (*writer)->lines(), "}"));
  Say(absl::StrCat("wrote ", WithThousands((*writer)->lines()), " ", options.kind,
                   options.file == "-" ? "" : absl::StrCat(" to ", options.file)));
  return kDone;
}

using Action = std::function<int(const Options&)>;

// What works on a folder, or through its server.
Action With(Access access, int (*act)(const Options&, Backend*)) {
  return [access, act](const Options& options) {
    auto backend = OpenTarget(options.target, access);
    return backend.ok() ? act(options, backend->get()) : Fail(backend.status());
  };
}

CLI::App* AddAction(CLI::App* group, Run* run, const std::string& name, const std::string& description,
                    const std::string& example, const std::shared_ptr<Options>& options,
                    const Action& action) {
  CLI::App* command = AddCommand(group, name, description, example);
  AddTargetOptions(command, &options->target);
  command->add_option("kind", options->kind, "synonyms or rules")
      ->required()
      ->check(CLI::IsMember({"synonyms", "rules"}))
      ->type_name("KIND");
  command->callback([=] { *run = [=] { return action(*options); }; });
  return command;
}

}  // namespace
}  // namespace curation_command

void AddCuration(CLI::App* app, Run* run) {
  using namespace curation_command;
  CLI::App* group =
      AddCommandGroup(app, "curation", "Synonyms and query rules: list, put, delete, import, export",
                      "  waymark curation put synonyms 'movie, film' --id film --data DIR");
  auto options = std::make_shared<Options>();
  CLI::App* list = AddAction(group, run, "list", "What there is, in the order of ids",
                             "  waymark curation list rules --data DIR", options, With(Access::kRead, List));
  list->add_option("-n,--limit", options->page_size, "entries of the page (at most 1,000)")->type_name("N");
  list->add_option("--page-token", options->page_token, "the page after the one that named it")
      ->type_name("TOKEN");
  CLI::App* put =
      AddAction(group, run, "put", "Create or replace one; it counts from the next request on",
                "  waymark curation put synonyms 'sneakers, trainers, running shoes' --id shoes --data DIR\n"
                "  waymark curation put synonyms 'phone => iphone, smartphone' --id phone --data DIR\n"
                "  waymark curation put rules '{\"id\": \"sale\", \"condition\": {\"match\": \"EXACT\", "
                "\"query\": \"sale\"},\n"
                "      \"redirect_uri\": \"/sale\"}' --data DIR",
                options, With(Access::kWrite, Put));
  put->add_option("entry", options->text, "JSON as the API has it; of synonyms also 'a, b' or 'a => b, c'")
      ->required()
      ->type_name("ENTRY");
  put->add_option("--id", options->id, "its name, where the entry has none")->type_name("ID");
  CLI::App* remove =
      AddAction(group, run, "delete", "Delete some", "  waymark curation delete rules sale --data DIR",
                options, With(Access::kWrite, Delete));
  remove->add_option("ids", options->ids, "which")->required()->type_name("ID...");
  CLI::App* import =
      AddAction(group, run, "import", "Create or replace those of a file, a line an entry",
                "  waymark curation import synonyms synonyms.jsonl --data DIR", options, Import);
  import->add_flag("--strict", options->strict, "stop at the first wrong line");
  CLI::App* exported = AddAction(group, run, "export", "Write all to a file that `import` reads",
                                 "  waymark curation export synonyms synonyms.jsonl --data DIR", options,
                                 With(Access::kRead, Export));
  for (CLI::App* command : {import, exported}) {
    command
        ->add_option("file", options->file, "JSONL; .gz and .zst are packed; - is standard input or output")
        ->required()
        ->type_name("FILE");
  }
}

}  // namespace waymark
