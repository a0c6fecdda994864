#include "pipeline/pipeline.h"

#include <openssl/rand.h>

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "pipeline/page_list.h"
#include "pipeline/pipeline_call_impl.h"
#include "pipeline/request_check.h"

namespace waymark {

std::string NewRequestId() {
  std::string bytes(12, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return absl::BytesToHexString(bytes);
}

Pipeline::Pipeline(PipelineParts parts)
    : parts_(parts),
      keyword_(MakeKeywordSource(parts.index)),
      keyword_signals_(MakeKeywordSignals(parts.index)),
      fresh_(parts.store, parts.scope, parts.catalog),
      content_(parts.catalog, parts.first_events) {}

absl::StatusOr<const LoadedRelease*> Pipeline::ReleaseFor(const Snapshot& snapshot,
                                                          const PipelineRequest& request) const {
  const auto find = [&snapshot](const std::string& id) -> const LoadedRelease* {
    const auto found = snapshot.releases.find(id);
    return found == snapshot.releases.end() ? nullptr : found->second.get();
  };
  if (!request.release.empty()) {
    if (const LoadedRelease* named = find(request.release)) return named;
    return absl::NotFoundError(absl::StrCat("release: '", request.release, "' is not loaded"));
  }
  if (!request.page_token.empty()) {
    // What is wrong with a token is told when the page is cut.
    const auto list = ReadPageToken(*parts_.key, request, parts_.clock->Now());
    if (list.ok()) {
      if (const LoadedRelease* made = find(list->release_id)) return made;
    }
    return snapshot.active.get();
  }
  const LoadedRelease* drawn = request.arm_release.empty() ? nullptr : find(request.arm_release);
  return drawn != nullptr ? drawn : snapshot.active.get();
}

absl::StatusOr<PipelineResponse> Pipeline::Run(const Snapshot& snapshot, const PipelineRequest& request,
                                               Deadline deadline) const {
  if (auto status = CheckRequest(request); !status.ok()) return status;
  auto release = ReleaseFor(snapshot, request);
  if (!release.ok()) return release.status();
  std::vector<const LoadedRelease*> rivals;
  const bool first_page = request.page_token.empty() && request.kind != RequestKind::kRank;
  if (request.interleave != nullptr && first_page && (*release)->record.id() == request.arm_release) {
    for (const std::string& id : request.rival_releases) {
      const auto found = snapshot.releases.find(id);
      if (found != snapshot.releases.end()) rivals.push_back(found->second.get());
    }
    if (rivals.size() < request.rival_releases.size()) rivals.clear();
  }
  return Call(*this, **release, std::move(rivals), request, deadline).Run();
}

}  // namespace waymark
