// Request and response of a gRPC call on one arena, for calls of many small messages: a heap that such calls
// have cut into pieces serves each later call more slowly.
//
//   ArenaMessages<v1::AssignUnitsRequest, v1::AssignUnitsResponse> messages;
//   service.SetMessageAllocatorFor_AssignUnits(&messages);    // lives longer
//
// Thread-safe.
#pragma once
#include <google/protobuf/arena.h>
#include <grpcpp/support/message_allocator.h>

namespace waymark {

template <class Request, class Response>
class ArenaMessages : public grpc::MessageAllocator<Request, Response> {
 public:
  grpc::MessageHolder<Request, Response>* AllocateMessages() override { return new Holder; }

 private:
  class Holder : public grpc::MessageHolder<Request, Response> {
   public:
    Holder() {
      this->set_request(google::protobuf::Arena::CreateMessage<Request>(&arena_));
      this->set_response(google::protobuf::Arena::CreateMessage<Response>(&arena_));
    }
    void Release() override { delete this; }  // gRPC's way to say that the call is over

   private:
    google::protobuf::Arena arena_;
  };
};

}  // namespace waymark
