// Where the time of training steps goes, in seconds. Threads of one process are added up.
#pragma once

namespace waymark {

struct StepTimes {
  double wait = 0;  // for the reader
  double data = 0;  // items and sequences of the batch
  double forward = 0;
  double backward = 0;
  double communication = 0;  // that the step waited for; what ran beside the backward pass is not in it
  double optimizer = 0;

  void Add(const StepTimes& other) {
    wait += other.wait;
    data += other.data;
    forward += other.forward;
    backward += other.backward;
    communication += other.communication;
    optimizer += other.optimizer;
  }
  double All() const { return wait + data + forward + backward + communication + optimizer; }
};

}  // namespace waymark
