// The command line of `waymark`: reads the arguments, runs the command, answers the exit code.
#pragma once

namespace waymark {

int RunCommandLine(int argc, char** argv);

}  // namespace waymark
