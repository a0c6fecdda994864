#include "serving/service_names.h"

#include "waymark/v1/admin.pb.h"
#include "waymark/v1/catalog.pb.h"
#include "waymark/v1/curation.pb.h"
#include "waymark/v1/event.pb.h"
#include "waymark/v1/experiment.pb.h"
#include "waymark/v1/model.pb.h"
#include "waymark/v1/rank.pb.h"
#include "waymark/v1/recommend.pb.h"
#include "waymark/v1/release.pb.h"
#include "waymark/v1/search.pb.h"
#include "waymark/v1/user.pb.h"

namespace waymark {
namespace {

// By a message of the service's file: a linker leaves out of a program whatever nothing names.
std::string ServiceBeside(const google::protobuf::Descriptor* message) {
  return message->file()->service(0)->full_name();
}

}  // namespace

std::vector<std::string> PublicServiceNames() {
  return {ServiceBeside(v1::PutItemsRequest::descriptor()),
          ServiceBeside(v1::PutUsersRequest::descriptor()),
          ServiceBeside(v1::WriteEventsRequest::descriptor()),
          ServiceBeside(v1::SearchRequest::descriptor()),
          ServiceBeside(v1::RecommendRequest::descriptor()),
          ServiceBeside(v1::RankRequest::descriptor()),
          ServiceBeside(v1::ListModelsRequest::descriptor()),
          ServiceBeside(v1::CreateReleaseRequest::descriptor()),
          ServiceBeside(v1::CreateExperimentRequest::descriptor()),
          ServiceBeside(v1::PutSynonymRequest::descriptor())};
}

std::string AdminServiceName() { return ServiceBeside(v1::GetStatusRequest::descriptor()); }

}  // namespace waymark
