#include "app/curation_files.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "app/curation_entries.h"
#include "app/exit.h"
#include "app/progress.h"
#include "store/rows/line_reader.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {
namespace {

constexpr int kBatch = 500;
constexpr size_t kBatchBytes = 4 << 20, kMaxLineBytes = 1 << 20;
constexpr int64_t kShownEntries = 10;
constexpr int kPage = 1000;

struct Synonyms {
  using Entry = v1::Synonym;
  static constexpr const char* kPut = "waymark.v1.CurationService.PutSynonyms";
  static constexpr const char* kList = "waymark.v1.CurationService.ListSynonyms";
  using PutRequest = v1::PutSynonymsRequest;
  using PutResponse = v1::PutSynonymsResponse;
  using ListRequest = v1::ListSynonymsRequest;
  using ListResponse = v1::ListSynonymsResponse;
  static auto Read(std::string_view line) { return ReadSynonym(line); }
  static auto* Add(PutRequest* request) { return request->add_synonyms(); }
  static const auto& Of(const ListResponse& response) { return response.synonyms(); }
};
struct Rules {
  using Entry = v1::Rule;
  static constexpr const char* kPut = "waymark.v1.CurationService.PutRules";
  static constexpr const char* kList = "waymark.v1.CurationService.ListRules";
  using PutRequest = v1::PutRulesRequest;
  using PutResponse = v1::PutRulesResponse;
  using ListRequest = v1::ListRulesRequest;
  using ListResponse = v1::ListRulesResponse;
  static auto Read(std::string_view line) { return ReadRule(line); }
  static auto* Add(PutRequest* request) { return request->add_rules(); }
  static const auto& Of(const ListResponse& response) { return response.rules(); }
};

template <class Kind>
class EntryImport {
 public:
  EntryImport(const CurationFile& file, Backend* backend, CurationReport* report)
      : file_(file),
        shown_(file.path == "-" ? "standard input" : file.path),
        backend_(backend),
        report_(report) {}

  absl::Status Run(ByteSource* source, const std::function<bool()>& stop) {
    LineReader lines(source, kMaxLineBytes);
    Progress progress(absl::StrCat("import ", shown_));
    Line line;
    while (true) {
      auto more = lines.Next(&line);
      if (!more.ok()) {
        return absl::Status(more.status().code(),
                            absl::StrCat(shown_, ": ", std::string(more.status().message())));
      }
      if (!*more) break;
      if (auto status = Take(line); !status.ok()) {
        absl::Status sent = Send();
        return sent.ok() ? status : sent;
      }
      if (static_cast<int>(numbers_.size()) == kBatch || bytes_ > kBatchBytes) {
        if (auto status = Send(); !status.ok()) return status;
      }
      progress.Update({.done = line.number, .unit = "lines", .fraction = {}, .note = {}});
      if (stop()) {
        absl::Status sent = Send();
        return sent.ok() ? absl::CancelledError("stopped") : sent;
      }
    }
    return Send();
  }

 private:
  absl::Status Take(const Line& line) {
    if (line.too_long) return Refuse(line.number, absl::StrCat("is longer than ", kMaxLineBytes, " bytes"));
    if (absl::StripAsciiWhitespace(line.text).empty()) return absl::OkStatus();
    // The short form that the command line takes has no id to write it under.
    if (absl::StripAsciiWhitespace(line.text).front() != '{') {
      return Refuse(line.number, absl::StrCat("is no ", Kind::Entry::descriptor()->name(),
                                              " in JSON: a line is one object, {...}"));
    }
    auto entry = Kind::Read(std::string(line.text));
    if (!entry.ok()) return Refuse(line.number, std::string(entry.status().message()));
    if (entry->id().empty()) return Refuse(line.number, "has no id");
    bytes_ += entry->ByteSizeLong();
    *Kind::Add(&request_) = *std::move(entry);
    numbers_.push_back(line.number);
    return absl::OkStatus();
  }

  absl::Status Refuse(int64_t line, const std::string& reason) {
    ++report_->refused;
    const std::string text = absl::StrCat(shown_, ", line ", line, ": ", reason);
    if (!file_.strict && report_->refused <= kShownEntries) Say(text);
    if (!file_.strict && report_->refused == kShownEntries + 1)
      Say("(more lines are refused; only their number is shown at the end)");
    return file_.strict ? absl::InvalidArgumentError(text) : absl::OkStatus();
  }

  absl::Status Send() {
    if (numbers_.empty()) return absl::OkStatus();
    request_.set_parent(file_.parent);
    typename Kind::PutResponse response;
    if (auto status = backend_->Call(Kind::kPut, request_, &response); !status.ok()) return status;
    absl::Status first;
    for (int i = 0; i < response.results_size(); ++i) {
      if (response.results(i).code() == 0) {
        ++report_->written;
      } else {
        first.Update(Refuse(numbers_[static_cast<size_t>(i)], response.results(i).message()));
      }
    }
    request_.Clear();
    numbers_.clear();
    bytes_ = 0;
    return first;
  }

  const CurationFile& file_;
  const std::string shown_;
  Backend* backend_;
  CurationReport* report_;
  typename Kind::PutRequest request_;
  std::vector<int64_t> numbers_;  // lines of the batch
  size_t bytes_ = 0;
};

template <class Kind>
absl::Status ForEachLine(const std::string& parent, Backend* backend,
                         const std::function<absl::Status(const std::string& line)>& visit) {
  typename Kind::ListRequest request;
  request.set_parent(parent);
  request.set_page_size(kPage);
  do {
    typename Kind::ListResponse page;
    if (auto status = backend->Call(Kind::kList, request, &page); !status.ok()) return status;
    for (const auto& entry : Kind::Of(page)) {
      auto line = EntryLine(entry);
      if (!line.ok()) return line.status();
      if (auto status = visit(*line); !status.ok()) return status;
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

}  // namespace

absl::Status ImportCuration(const CurationFile& file, ByteSource* source, Backend* backend,
                            const std::function<bool()>& stop, CurationReport* report) {
  auto status = file.entries == CurationEntries::kSynonyms
                    ? EntryImport<Synonyms>(file, backend, report).Run(source, stop)
                    : EntryImport<Rules>(file, backend, report).Run(source, stop);
  if (status.ok() && report->written == 0) {
    return absl::InvalidArgumentError(report->refused > 0 ? "every line was refused; nothing is written"
                                                          : absl::StrCat(file.path, ": holds no lines"));
  }
  return status;
}

absl::Status ForEachCurationLine(CurationEntries entries, const std::string& parent, Backend* backend,
                                 const std::function<absl::Status(const std::string& line)>& visit) {
  return entries == CurationEntries::kSynonyms ? ForEachLine<Synonyms>(parent, backend, visit)
                                               : ForEachLine<Rules>(parent, backend, visit);
}

}  // namespace waymark
