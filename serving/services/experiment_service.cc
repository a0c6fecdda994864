#include "serving/services/experiment_service.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/list_page.h"
#include "serving/services/collection_access.h"
#include "serving/services/experiment_messages.h"
#include "serving/status_details.h"
#include "store/text_check.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace {

constexpr int kUnitsAWrite = 1000, kMostUnits = 10000;

// They load models or read the log; searches must not wait for them.
constexpr MethodOptions kLong = {.lane = Lane::kBulk};
// 10,000 units with their contexts.
constexpr MethodOptions kUnits = {
    .max_request_bytes = size_t{16} << 20, .lane = Lane::kWrite, .default_deadline = kBatchDeadline};

class Service {
 public:
  Service(Engine* engine, ExperimentHost* host) : engine_(engine), host_(host) {}

  absl::Status Create(const v1::CreateExperimentRequest& request, v1::Experiment* response,
                      const CallContext& context) const {
    auto record = RecordOf(request.experiment());
    if (!record.ok()) return record.status();
    if (record->id().empty()) return InvalidField("experiment.id", "is empty; it takes a name of its own");
    if (auto status = CheckNewId(record->id()); !status.ok()) return status;
    if (auto status = CheckBy(request.by()); !status.ok()) return status;
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    return Answer((*hosted)->experiments->Create(*std::move(record), request.by()), response);
  }

  absl::Status Update(const v1::UpdateExperimentRequest& request, v1::Experiment* response,
                      const CallContext& context) const {
    auto record = RecordOf(request.experiment());
    if (!record.ok()) return record.status();
    if (auto status = CheckCall(request.id(), request.by()); !status.ok()) return status;
    if (!record->id().empty() && record->id() != request.id()) {
      return InvalidField("experiment.id", absl::StrCat("is '", record->id(), "', and the path names '",
                                                        request.id(), "'; an id does not change"));
    }
    record->set_id(request.id());
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    return Answer(
        (*hosted)->experiments->Update(*std::move(record), request.by(), request.expected_revision()),
        response);
  }

  absl::Status Get(const v1::GetExperimentRequest& request, v1::Experiment* response,
                   const CallContext& context) const {
    if (auto status = CheckId(request.id()); !status.ok()) return status;
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    const Experiments& experiments = *(*hosted)->experiments;
    if (auto status = Answer(experiments.Get(request.id()), response); !status.ok()) return status;
    for (const auto& decision : experiments.Decisions(request.id()))
      ToMessage(decision, response->add_decisions());
    return absl::OkStatus();
  }

  absl::Status List(const v1::ListExperimentsRequest& request, v1::ListExperimentsResponse* response,
                    const CallContext& context) const {
    auto size = ReadPageSize(request.page_size());
    if (!size.ok()) return size.status();
    const ListArguments arguments = {"ListExperiments", request.parent()};
    auto after = ReadIdListToken(request.page_token(), arguments);
    if (!after.ok()) return after.status();
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    size_t bytes = 0;
    return engine_->store().ForEachExperiment(
        (*hosted)->collection->scope(), *after, [&](const storage::ExperimentRecord& record) {
          const int taken = response->experiments_size();
          bytes += record.ByteSizeLong();
          if (taken == *size || (taken > 0 && bytes > kMaxListPageBytes)) {
            response->set_next_page_token(MakeIdListToken(response->experiments().rbegin()->id(), arguments));
            return false;
          }
          ToMessage(record, response->add_experiments());
          return true;
        });
  }

  absl::Status Delete(const v1::DeleteExperimentRequest& request, const CallContext& context) const {
    if (auto status = CheckCall(request.id(), request.by()); !status.ok()) return status;
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    return Named((*hosted)->experiments->Delete(request.id(), request.by(), request.expected_revision()));
  }

  absl::Status Start(const v1::StartExperimentRequest& request, v1::Experiment* response,
                     const CallContext& context) const {
    if (auto status = CheckCall(request.id(), request.by()); !status.ok()) return status;
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    auto record = (*hosted)->experiments->Get(request.id());
    if (!record.ok()) return Named(record.status());
    absl::Status status = host_->LoadArms(*hosted, *record);
    if (status.ok()) {
      DecisionRequest decision;
      decision.move = {.action = request.shadow() ? Action::kStartShadow : Action::kStart};
      decision.by = request.by();
      decision.reason = request.reason();
      decision.expected_revision = request.expected_revision();
      status = Answer((*hosted)->experiments->Decide(request.id(), decision), response);
    }
    host_->Settle(*hosted);  // one that has not started lets its releases go
    return status;
  }

  absl::Status Ramp(const v1::RampExperimentRequest& request, v1::Experiment* response,
                    const CallContext& context) const {
    if (auto status = CheckCall(request.id(), request.by()); !status.ok()) return status;
    DecisionRequest decision;
    decision.move = {.action = Action::kRamp, .coverage = request.coverage()};
    decision.by = request.by();
    decision.reason = request.reason();
    decision.override_reason = request.override_reason();
    decision.expected_revision = request.expected_revision();
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    return Answer((*hosted)->experiments->Decide(request.id(), decision), response);
  }

  absl::Status Stop(const v1::StopExperimentRequest& request, v1::Experiment* response,
                    const CallContext& context) const {
    if (auto status = CheckCall(request.id(), request.by()); !status.ok()) return status;
    DecisionRequest decision;
    switch (request.outcome()) {
      case v1::StopExperimentRequest::RELEASE:
        decision.move = {.action = Action::kRelease, .winner = request.winner()};
        break;
      case v1::StopExperimentRequest::ROLL_BACK:
        decision.move = {.action = Action::kRollBack};
        break;
      case v1::StopExperimentRequest::END:
        decision.move = {.action = Action::kEnd};
        break;
      default:
        return InvalidField("outcome", absl::StrCat("is ", static_cast<int>(request.outcome()),
                                                    "; it takes RELEASE, ROLL_BACK or END"));
    }
    if (request.outcome() != v1::StopExperimentRequest::RELEASE && !request.winner().empty()) {
      return InvalidField("winner", "is for the outcome RELEASE alone; leave it out");
    }
    decision.by = request.by();
    decision.reason = request.reason();
    decision.override_reason = request.override_reason();
    decision.expected_revision = request.expected_revision();
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    absl::Status status = Answer((*hosted)->experiments->Decide(request.id(), decision), response);
    if (status.ok()) host_->Settle(*hosted);
    return status;
  }

  absl::Status Report(const v1::ReportExperimentRequest& request, v1::ExperimentReport* response,
                      const CallContext& context) const {
    if (auto status = CheckId(request.id()); !status.ok()) return status;
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    auto report = (*hosted)->experiments->Report(request.id());
    if (!report.ok()) return Named(report.status());
    ToMessage(*report, response);
    for (const auto& decision : (*hosted)->experiments->Decisions(request.id()))
      ToMessage(decision, response->add_decisions());
    return absl::OkStatus();
  }

  absl::Status Assign(const v1::AssignUnitsRequest& request, v1::AssignUnitsResponse* response,
                      const CallContext& context) const {
    if (request.units_size() > kMostUnits) {
      return InvalidField("units", absl::StrCat("has ", request.units_size(), " entries; it takes up to ",
                                                kMostUnits, ". Send them in parts."));
    }
    auto hosted = Open(request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    for (const std::string& id : request.experiments()) {
      if (auto known = (*hosted)->experiments->Get(id); !known.ok()) return Named(known.status());
    }
    Experiments& experiments = *(*hosted)->experiments;
    for (int i = 0; i < request.units_size(); ++i) {
      auto status = CheckUnit(experiments, request.units(i), absl::StrCat("units[", i, "]"));
      if (!status.ok()) return status;
    }
    for (int i = 0; i < request.units_size(); i += kUnitsAWrite) {
      if (auto status = context.Check(); !status.ok()) return status;
      const int end = std::min(i + kUnitsAWrite, request.units_size());
      if (auto status = AssignSome(&experiments, request, i, end, response); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckId(const std::string& id) {
    return id.empty() ? InvalidField("id", "is empty; it takes an experiment's id") : absl::OkStatus();
  }
  // As of releases and models: it stands in paths and names.
  static absl::Status CheckNewId(const std::string& id) {
    const auto plain = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
    };
    if (id.size() <= 64 && id[0] != '.' && std::all_of(id.begin(), id.end(), plain)) return absl::OkStatus();
    return InvalidField(
        "experiment.id",
        absl::StrCat("is '", Shortened(id),
                     "'; it takes 1 to 64 letters, digits, '.', '-' or '_', the first no '.'"));
  }
  static absl::Status CheckBy(const std::string& by) {
    return by.empty() ? InvalidField("by", "is empty; it takes the name of who decides") : absl::OkStatus();
  }
  static absl::Status CheckCall(const std::string& id, const std::string& by) {
    auto status = CheckId(id);
    return status.ok() ? CheckBy(by) : status;
  }
  static absl::Status Named(absl::Status status) {
    return absl::IsNotFound(status) ? WithReason(std::move(status), "EXPERIMENT_NOT_FOUND") : status;
  }
  static absl::Status Answer(const absl::StatusOr<storage::ExperimentRecord>& record,
                             v1::Experiment* response) {
    if (!record.ok()) return Named(record.status());
    ToMessage(*record, response);
    return absl::OkStatus();
  }

  absl::StatusOr<HostedExperiments*> Open(const std::string& parent, const CallContext& context) const {
    return OpenExperiments(engine_, host_, parent, context);
  }

  static absl::Status CheckUnit(const Experiments& experiments, const v1::AssignUnitsRequest::Unit& unit,
                                const std::string& place) {
    if (unit.user_id().empty() && unit.visitor_id().empty() && unit.session_id().empty() &&
        unit.request_id().empty()) {
      return InvalidField(place, "names nobody; it takes a user_id, visitor_id, session_id or request_id");
    }
    const absl::Status status =
        experiments.CheckOverrides({unit.overrides().begin(), unit.overrides().end()});
    return status.ok() ? status : InvalidField(place + ".overrides", std::string(status.message()));
  }

  // Units [begin, end), whose exposures are written together.
  static absl::Status AssignSome(Experiments* experiments, const v1::AssignUnitsRequest& request, int begin,
                                 int end, v1::AssignUnitsResponse* response) {
    std::vector<Experiments::Assignments> assigned;
    assigned.reserve(static_cast<size_t>(end - begin));
    std::vector<Experiments::Exposed> exposed;
    for (int i = begin; i < end; ++i) {
      const v1::AssignUnitsRequest::Unit& unit = request.units(i);
      assigned.push_back(AssignOne(*experiments, unit));
      for (const AssignedArm* arm : Show(assigned.back(), request, response->add_units())) {
        if (request.expose()) exposed.push_back({&assigned.back(), arm, About(unit)});
      }
    }
    return experiments->RecordExposures(exposed);
  }

  static Experiments::Assignments AssignOne(const Experiments& experiments,
                                            const v1::AssignUnitsRequest::Unit& unit) {
    const std::map<std::string, std::string> overrides(unit.overrides().begin(), unit.overrides().end());
    return experiments.Assign({.user_id = unit.user_id(),
                               .visitor_id = unit.visitor_id(),
                               .session_id = unit.session_id(),
                               .request_id = unit.request_id(),
                               .context = &unit.context(),
                               .overrides = overrides.empty() ? nullptr : &overrides});
  }

  static ExposureContext About(const v1::AssignUnitsRequest::Unit& unit) {
    const auto& context = unit.context().fields();
    const auto surface = context.find("surface");
    return {.request_id = unit.request_id(),
            .surface = surface == context.end() ? std::string_view()
                                                : std::string_view(surface->second.string_value()),
            .context = &unit.context()};
  }

  // Puts into `response` what was asked for. The arms that its unit sees.
  static std::vector<const AssignedArm*> Show(const Experiments::Assignments& assigned,
                                              const v1::AssignUnitsRequest& request,
                                              v1::AssignUnitsResponse::Unit* response) {
    std::vector<const AssignedArm*> seen;
    for (const AssignedArm& arm : assigned.arms) {
      const auto& wanted = request.experiments();
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), arm.experiment->id) == wanted.end())
        continue;
      auto* assignment = response->add_assignments();
      assignment->set_experiment(arm.experiment->id);
      assignment->set_reason(std::string(ReasonName(arm.reason)));
      if (arm.arm < 0) continue;
      const ArmPlan& plan = arm.experiment->arms[static_cast<size_t>(arm.arm)];
      assignment->set_arm(arm.Interleaved() ? "interleaved" : plan.name);
      if (arm.Interleaved()) continue;  // the server makes its lists, and counts them
      assignment->set_release(plan.release);
      assignment->set_slot_variant(plan.slot_variant);
      seen.push_back(&arm);
    }
    return seen;
  }

  Engine* engine_;
  ExperimentHost* host_;
};

}  // namespace

absl::StatusOr<HostedExperiments*> OpenExperiments(Engine* engine, ExperimentHost* host,
                                                   const std::string& parent, const CallContext& context) {
  auto collection = OpenForRead(engine, parent, "", context);
  if (!collection.ok()) return collection.status();
  return host->Open(*collection);
}

void RegisterExperiments(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  const Service s(engine, host);
  const std::string service = "waymark.v1.ExperimentService.";
  registry->Add<v1::CreateExperimentRequest, v1::Experiment>(
      service + "CreateExperiment", kWriting,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Create(q, r, c); });
  registry->Add<v1::UpdateExperimentRequest, v1::Experiment>(
      service + "UpdateExperiment", kWriting,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Update(q, r, c); });
  registry->Add<v1::GetExperimentRequest, v1::Experiment>(
      service + "GetExperiment", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.Get(q, r, c); });
  registry->Add<v1::ListExperimentsRequest, v1::ListExperimentsResponse>(
      service + "ListExperiments", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.List(q, r, c); });
  registry->Add<v1::DeleteExperimentRequest, v1::DeleteExperimentResponse>(
      service + "DeleteExperiment", kLong,
      [s](const auto& q, auto*, const CallContext& c) { return s.Delete(q, c); });
  registry->Add<v1::StartExperimentRequest, v1::Experiment>(
      service + "StartExperiment", kLong,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Start(q, r, c); });
  registry->Add<v1::RampExperimentRequest, v1::Experiment>(
      service + "RampExperiment", kLong,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Ramp(q, r, c); });
  registry->Add<v1::StopExperimentRequest, v1::Experiment>(
      service + "StopExperiment", kLong,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Stop(q, r, c); });
  registry->Add<v1::ReportExperimentRequest, v1::ExperimentReport>(
      service + "ReportExperiment", kLong,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Report(q, r, c); });
  registry->Add<v1::AssignUnitsRequest, v1::AssignUnitsResponse>(
      service + "AssignUnits", kUnits,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Assign(q, r, c); });
  RegisterLayers(engine, host, registry);
  RegisterExperimentAdvice(engine, host, registry);
}

}  // namespace waymark
