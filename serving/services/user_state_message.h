// What the engine knows of a user now, as the API shows it.
#pragma once
#include "absl/status/status.h"
#include "store/store.h"
#include "waymark/v1/user.pb.h"

namespace waymark {

absl::Status FillUserState(const Store& store, Scope scope, UserNumber user, size_t history_limit,
                           v1::UserState* state);

}  // namespace waymark
