#include "serving/rpc/services.h"

#include <utility>

#include "serving/rpc/arena_messages.h"
#include "serving/rpc/export_reactor.h"
#include "serving/rpc/import_reactor.h"
#include "serving/services/catalog_service.h"
#include "serving/services/event_service.h"
#include "serving/services/model_service.h"
#include "waymark/v1/admin.grpc.pb.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/curation.grpc.pb.h"
#include "waymark/v1/event.grpc.pb.h"
#include "waymark/v1/experiment.grpc.pb.h"
#include "waymark/v1/model.grpc.pb.h"
#include "waymark/v1/rank.grpc.pb.h"
#include "waymark/v1/recommend.grpc.pb.h"
#include "waymark/v1/release.grpc.pb.h"
#include "waymark/v1/search.grpc.pb.h"
#include "waymark/v1/user.grpc.pb.h"

namespace waymark {
namespace {

using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

template <class Request, class Response>
grpc::ServerReadReactor<Request>* Import(std::string method, RpcCalls* calls, Context* context,
                                         std::unique_ptr<ImportSession<Request, Response>> session,
                                         Response* response) {
  auto* reactor = new ImportReactor<Request, Response>(std::move(method), calls->runner(), context,
                                                       std::move(session), response);
  reactor->Begin();
  return reactor;
}

// The request lives until the call ends.
template <class Entry>
grpc::ServerWriteReactor<Entry>* Export(std::string method, RpcCalls* calls, Context* context,
                                        typename ExportReactor<Entry>::Opener open) {
  auto* reactor = new ExportReactor<Entry>(std::move(method), calls->runner(), context, std::move(open));
  reactor->Begin();
  return reactor;
}

class CatalogRpc : public v1::CatalogService::CallbackService {
 public:
  CatalogRpc(Engine* engine, RpcCalls* calls) : engine_(engine), calls_(calls) {}
  Reactor* PutItems(Context* c, const v1::PutItemsRequest* q, v1::PutItemsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.PutItems", q, r);
  }
  Reactor* UpdateItems(Context* c, const v1::UpdateItemsRequest* q, v1::UpdateItemsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.UpdateItems", q, r);
  }
  Reactor* DeleteItems(Context* c, const v1::DeleteItemsRequest* q, v1::DeleteItemsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.DeleteItems", q, r);
  }
  Reactor* GetItem(Context* c, const v1::GetItemRequest* q, v1::Item* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.GetItem", q, r);
  }
  Reactor* ListItems(Context* c, const v1::ListItemsRequest* q, v1::ListItemsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.ListItems", q, r);
  }
  grpc::ServerReadReactor<v1::ImportItemsRequest>* ImportItems(Context* c,
                                                               v1::ImportItemsResponse* r) override {
    return Import("waymark.v1.CatalogService.ImportItems", calls_, c, MakeItemImport(engine_), r);
  }
  grpc::ServerWriteReactor<v1::Item>* ExportItems(Context* c, const v1::ExportItemsRequest* q) override {
    return Export<v1::Item>(
        "waymark.v1.CatalogService.ExportItems", calls_, c,
        [this, q](const CallContext& context) { return MakeItemExport(engine_, *q, context); });
  }
  Reactor* GetSchema(Context* c, const v1::GetSchemaRequest* q, v1::Schema* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.GetSchema", q, r);
  }
  Reactor* UpdateSchema(Context* c, const v1::UpdateSchemaRequest* q, v1::Schema* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.UpdateSchema", q, r);
  }
  Reactor* ListCollections(Context* c, const v1::ListCollectionsRequest* q,
                           v1::ListCollectionsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.ListCollections", q, r);
  }
  Reactor* PutAlias(Context* c, const v1::PutAliasRequest* q, v1::Alias* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.PutAlias", q, r);
  }
  Reactor* DeleteAlias(Context* c, const v1::DeleteAliasRequest* q, v1::DeleteAliasResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CatalogService.DeleteAlias", q, r);
  }

 private:
  Engine* engine_;
  RpcCalls* calls_;
};

class UserRpc : public v1::UserService::CallbackService {
 public:
  explicit UserRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* PutUsers(Context* c, const v1::PutUsersRequest* q, v1::PutUsersResponse* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.PutUsers", q, r);
  }
  Reactor* UpdateUsers(Context* c, const v1::UpdateUsersRequest* q, v1::UpdateUsersResponse* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.UpdateUsers", q, r);
  }
  Reactor* GetUser(Context* c, const v1::GetUserRequest* q, v1::User* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.GetUser", q, r);
  }
  Reactor* ListUsers(Context* c, const v1::ListUsersRequest* q, v1::ListUsersResponse* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.ListUsers", q, r);
  }
  Reactor* GetUserState(Context* c, const v1::GetUserStateRequest* q, v1::UserState* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.GetUserState", q, r);
  }
  Reactor* DeleteUser(Context* c, const v1::DeleteUserRequest* q, v1::DeleteUserResponse* r) override {
    return calls_->Unary(c, "waymark.v1.UserService.DeleteUser", q, r);
  }

 private:
  RpcCalls* calls_;
};

class EventRpc : public v1::EventService::CallbackService {
 public:
  EventRpc(Engine* engine, RpcCalls* calls) : engine_(engine), calls_(calls) {}
  Reactor* WriteEvents(Context* c, const v1::WriteEventsRequest* q, v1::WriteEventsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.EventService.WriteEvents", q, r);
  }
  grpc::ServerReadReactor<v1::ImportEventsRequest>* ImportEvents(Context* c,
                                                                 v1::ImportEventsResponse* r) override {
    return Import("waymark.v1.EventService.ImportEvents", calls_, c, MakeEventImport(engine_), r);
  }
  Reactor* ListEvents(Context* c, const v1::ListEventsRequest* q, v1::ListEventsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.EventService.ListEvents", q, r);
  }
  grpc::ServerWriteReactor<v1::Event>* ExportEvents(Context* c, const v1::ExportEventsRequest* q) override {
    return Export<v1::Event>(
        "waymark.v1.EventService.ExportEvents", calls_, c,
        [this, q](const CallContext& context) { return MakeEventExport(engine_, *q, context); });
  }

 private:
  Engine* engine_;
  RpcCalls* calls_;
};

class SearchRpc : public v1::SearchService::CallbackService {
 public:
  explicit SearchRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* Search(Context* c, const v1::SearchRequest* q, v1::SearchResponse* r) override {
    return calls_->Unary(c, "waymark.v1.SearchService.Search", q, r);
  }
  Reactor* Suggest(Context* c, const v1::SuggestRequest* q, v1::SuggestResponse* r) override {
    return calls_->Unary(c, "waymark.v1.SearchService.Suggest", q, r);
  }

 private:
  RpcCalls* calls_;
};

class RecommendRpc : public v1::RecommendService::CallbackService {
 public:
  explicit RecommendRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* Recommend(Context* c, const v1::RecommendRequest* q, v1::RecommendResponse* r) override {
    return calls_->Unary(c, "waymark.v1.RecommendService.Recommend", q, r);
  }

 private:
  RpcCalls* calls_;
};

class RankRpc : public v1::RankService::CallbackService {
 public:
  explicit RankRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* Rank(Context* c, const v1::RankRequest* q, v1::RankResponse* r) override {
    return calls_->Unary(c, "waymark.v1.RankService.Rank", q, r);
  }

 private:
  RpcCalls* calls_;
};

class ModelRpc : public v1::ModelService::CallbackService {
 public:
  ModelRpc(Engine* engine, RpcCalls* calls) : engine_(engine), calls_(calls) {}
  Reactor* ListModels(Context* c, const v1::ListModelsRequest* q, v1::ListModelsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ModelService.ListModels", q, r);
  }
  Reactor* GetModel(Context* c, const v1::GetModelRequest* q, v1::Model* r) override {
    return calls_->Unary(c, "waymark.v1.ModelService.GetModel", q, r);
  }
  grpc::ServerReadReactor<v1::ImportModelRequest>* ImportModel(Context* c, v1::Model* r) override {
    return Import("waymark.v1.ModelService.ImportModel", calls_, c, MakeModelImport(engine_), r);
  }
  Reactor* VerifyModel(Context* c, const v1::VerifyModelRequest* q, v1::VerifyModelResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ModelService.VerifyModel", q, r);
  }

 private:
  Engine* engine_;
  RpcCalls* calls_;
};

class ReleaseRpc : public v1::ReleaseService::CallbackService {
 public:
  explicit ReleaseRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* CreateRelease(Context* c, const v1::CreateReleaseRequest* q, v1::Release* r) override {
    return calls_->Unary(c, "waymark.v1.ReleaseService.CreateRelease", q, r);
  }
  Reactor* ListReleases(Context* c, const v1::ListReleasesRequest* q, v1::ListReleasesResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ReleaseService.ListReleases", q, r);
  }
  Reactor* GetRelease(Context* c, const v1::GetReleaseRequest* q, v1::Release* r) override {
    return calls_->Unary(c, "waymark.v1.ReleaseService.GetRelease", q, r);
  }
  Reactor* ActivateRelease(Context* c, const v1::ActivateReleaseRequest* q, v1::Release* r) override {
    return calls_->Unary(c, "waymark.v1.ReleaseService.ActivateRelease", q, r);
  }
  Reactor* RollbackRelease(Context* c, const v1::RollbackReleaseRequest* q,
                           v1::RollbackReleaseResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ReleaseService.RollbackRelease", q, r);
  }

 private:
  RpcCalls* calls_;
};

class ExperimentRpc : public v1::ExperimentService::CallbackService {
 public:
  explicit ExperimentRpc(RpcCalls* calls) : calls_(calls) { SetMessageAllocatorFor_AssignUnits(&units_); }
  Reactor* CreateExperiment(Context* c, const v1::CreateExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.CreateExperiment", q, r);
  }
  Reactor* UpdateExperiment(Context* c, const v1::UpdateExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.UpdateExperiment", q, r);
  }
  Reactor* GetExperiment(Context* c, const v1::GetExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.GetExperiment", q, r);
  }
  Reactor* ListExperiments(Context* c, const v1::ListExperimentsRequest* q,
                           v1::ListExperimentsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.ListExperiments", q, r);
  }
  Reactor* DeleteExperiment(Context* c, const v1::DeleteExperimentRequest* q,
                            v1::DeleteExperimentResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.DeleteExperiment", q, r);
  }
  Reactor* StartExperiment(Context* c, const v1::StartExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.StartExperiment", q, r);
  }
  Reactor* RampExperiment(Context* c, const v1::RampExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.RampExperiment", q, r);
  }
  Reactor* StopExperiment(Context* c, const v1::StopExperimentRequest* q, v1::Experiment* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.StopExperiment", q, r);
  }
  Reactor* ReportExperiment(Context* c, const v1::ReportExperimentRequest* q,
                            v1::ExperimentReport* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.ReportExperiment", q, r);
  }
  Reactor* AssignUnits(Context* c, const v1::AssignUnitsRequest* q, v1::AssignUnitsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.AssignUnits", q, r);
  }
  Reactor* DecideExperiment(Context* c, const v1::DecideExperimentRequest* q,
                            v1::DecideExperimentResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.DecideExperiment", q, r);
  }
  Reactor* EvaluatePolicy(Context* c, const v1::EvaluatePolicyRequest* q,
                          v1::EvaluatePolicyResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.EvaluatePolicy", q, r);
  }
  Reactor* PutLayer(Context* c, const v1::PutLayerRequest* q, v1::Layer* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.PutLayer", q, r);
  }
  Reactor* ListLayers(Context* c, const v1::ListLayersRequest* q, v1::ListLayersResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.ListLayers", q, r);
  }
  Reactor* DeleteLayer(Context* c, const v1::DeleteLayerRequest* q, v1::DeleteLayerResponse* r) override {
    return calls_->Unary(c, "waymark.v1.ExperimentService.DeleteLayer", q, r);
  }

 private:
  ArenaMessages<v1::AssignUnitsRequest, v1::AssignUnitsResponse> units_;
  RpcCalls* calls_;
};

class CurationRpc : public v1::CurationService::CallbackService {
 public:
  explicit CurationRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* PutSynonym(Context* c, const v1::PutSynonymRequest* q, v1::Synonym* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.PutSynonym", q, r);
  }
  Reactor* PutSynonyms(Context* c, const v1::PutSynonymsRequest* q, v1::PutSynonymsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.PutSynonyms", q, r);
  }
  Reactor* GetSynonym(Context* c, const v1::GetSynonymRequest* q, v1::Synonym* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.GetSynonym", q, r);
  }
  Reactor* ListSynonyms(Context* c, const v1::ListSynonymsRequest* q, v1::ListSynonymsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.ListSynonyms", q, r);
  }
  Reactor* DeleteSynonym(Context* c, const v1::DeleteSynonymRequest* q,
                         v1::DeleteSynonymResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.DeleteSynonym", q, r);
  }
  Reactor* PutRule(Context* c, const v1::PutRuleRequest* q, v1::Rule* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.PutRule", q, r);
  }
  Reactor* PutRules(Context* c, const v1::PutRulesRequest* q, v1::PutRulesResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.PutRules", q, r);
  }
  Reactor* GetRule(Context* c, const v1::GetRuleRequest* q, v1::Rule* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.GetRule", q, r);
  }
  Reactor* ListRules(Context* c, const v1::ListRulesRequest* q, v1::ListRulesResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.ListRules", q, r);
  }
  Reactor* DeleteRule(Context* c, const v1::DeleteRuleRequest* q, v1::DeleteRuleResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.DeleteRule", q, r);
  }
  Reactor* PutSlotVariant(Context* c, const v1::PutSlotVariantRequest* q, v1::SlotVariant* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.PutSlotVariant", q, r);
  }
  Reactor* GetSlotVariant(Context* c, const v1::GetSlotVariantRequest* q, v1::SlotVariant* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.GetSlotVariant", q, r);
  }
  Reactor* ListSlotVariants(Context* c, const v1::ListSlotVariantsRequest* q,
                            v1::ListSlotVariantsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.ListSlotVariants", q, r);
  }
  Reactor* DeleteSlotVariant(Context* c, const v1::DeleteSlotVariantRequest* q,
                             v1::DeleteSlotVariantResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.DeleteSlotVariant", q, r);
  }
  Reactor* ListSlots(Context* c, const v1::ListSlotsRequest* q, v1::ListSlotsResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.ListSlots", q, r);
  }
  Reactor* ActivateSlotVariant(Context* c, const v1::ActivateSlotVariantRequest* q, v1::Slot* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.ActivateSlotVariant", q, r);
  }
  Reactor* RollbackSlot(Context* c, const v1::RollbackSlotRequest* q, v1::Slot* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.RollbackSlot", q, r);
  }
  Reactor* GetSlot(Context* c, const v1::GetSlotRequest* q, v1::GetSlotResponse* r) override {
    return calls_->Unary(c, "waymark.v1.CurationService.GetSlot", q, r);
  }

 private:
  RpcCalls* calls_;
};

class AdminRpc : public v1::AdminService::CallbackService {
 public:
  explicit AdminRpc(RpcCalls* calls) : calls_(calls) {}
  Reactor* GetStatus(Context* c, const v1::GetStatusRequest* q, v1::Status* r) override {
    return calls_->Unary(c, "waymark.v1.AdminService.GetStatus", q, r);
  }
  Reactor* CreateCheckpoint(Context* c, const v1::CreateCheckpointRequest* q,
                            v1::CreateCheckpointResponse* r) override {
    return calls_->Unary(c, "waymark.v1.AdminService.CreateCheckpoint", q, r);
  }
  Reactor* CheckData(Context* c, const v1::CheckDataRequest* q, v1::CheckDataResponse* r) override {
    return calls_->Unary(c, "waymark.v1.AdminService.CheckData", q, r);
  }
  Reactor* ReportQueries(Context* c, const v1::ReportQueriesRequest* q,
                         v1::ReportQueriesResponse* r) override {
    return calls_->Unary(c, "waymark.v1.AdminService.ReportQueries", q, r);
  }

 private:
  RpcCalls* calls_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakePublicServices(Engine* engine, RpcCalls* calls) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(std::make_unique<CatalogRpc>(engine, calls));
  services.push_back(std::make_unique<UserRpc>(calls));
  services.push_back(std::make_unique<EventRpc>(engine, calls));
  services.push_back(std::make_unique<SearchRpc>(calls));
  services.push_back(std::make_unique<RecommendRpc>(calls));
  services.push_back(std::make_unique<RankRpc>(calls));
  services.push_back(std::make_unique<ModelRpc>(engine, calls));
  services.push_back(std::make_unique<ReleaseRpc>(calls));
  services.push_back(std::make_unique<ExperimentRpc>(calls));
  services.push_back(std::make_unique<CurationRpc>(calls));
  return services;
}

std::unique_ptr<grpc::Service> MakeAdminService(RpcCalls* calls) { return std::make_unique<AdminRpc>(calls); }

}  // namespace waymark
