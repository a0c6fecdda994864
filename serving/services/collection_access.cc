#include "serving/services/collection_access.h"

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {

absl::StatusOr<Collection*> OpenForRead(Engine* engine, const CollectionName& name,
                                        const std::string& consistency_token, const CallContext& context) {
  auto collection = engine->OpenCollection(name, /*create=*/false);
  if (!collection.ok()) {
    if (!absl::IsNotFound(collection.status())) return collection.status();
    return WithReason(absl::NotFoundError(absl::StrCat("there is no collection ", FormatCollection(name),
                                                       "; the first write to it makes it")),
                      "COLLECTION_NOT_FOUND");
  }
  if (!consistency_token.empty()) {
    if (auto status = (*collection)->WaitFor(consistency_token, context.deadline); !status.ok()) {
      const bool named = FieldOfMessage(std::string(status.message())) == "consistency_token";
      if (named || !absl::IsInvalidArgument(status)) return status;
      return InvalidField("consistency_token", std::string(status.message()));
    }
  }
  return *collection;
}

absl::StatusOr<Collection*> OpenForRead(Engine* engine, const std::string& parent,
                                        const std::string& consistency_token, const CallContext& context) {
  auto name = ParseCollection(parent, "parent");
  if (!name.ok()) return name.status();
  return OpenForRead(engine, *name, consistency_token, context);
}

absl::StatusOr<Collection*> OpenForWrite(Engine* engine, const std::string& parent) {
  auto name = ParseCollection(parent, "parent");
  if (!name.ok()) return name.status();
  return engine->OpenCollection(*name, /*create=*/true);
}

std::string TokenOfNow(Engine* engine) { return EncodeConsistencyToken(engine->store().EndPosition()); }

}  // namespace waymark
