// What the killed writer writes and says, shared with the test that kills it.
#pragma once
#include "tests/store/fixture.h"

namespace waymark::tests {

struct Answer {  // one per answered write, through the pipe; 16 bytes are written at once
  uint64_t number;
  uint64_t end;
};

inline std::string ItemName(uint64_t number) { return absl::StrCat("i", number % 37); }
inline std::string UserName(uint64_t number) { return absl::StrCat("u", number % 11); }

inline WriteEvent NumberedEvent(uint64_t number) {
  WriteEvent event = Event(UserName(number), ItemName(number), static_cast<int>(number % 1000));
  event.event_id = absl::StrCat("e", number);
  return event;
}

}  // namespace waymark::tests
