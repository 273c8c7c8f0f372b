// substitute [--wait] [--notes FOLDER] [--put ORIGINAL SUBSTITUTE]... PROGRAM [ARGS...]
//
// Starts a program with substitutes, as `respike run` does, but without a database;
// e2e/session_test.py.
// --wait: as a child that is waited for. --notes: notes opened libraries in a folder.

#include <cstdio>
#include <cstring>
#include <exception>

#include "optimizer/base/files.h"
#include "tas/opened.h"
#include "tas/session.h"

int main(int argc, char** argv) {
  respike::Launch launch;
  respike::occupy_closed_standard_files();
  launch.warn = [](const std::string& text) {
    std::fprintf(stderr, "substitute: warning: %s\n", text.c_str());
  };
  bool wait = false;
  std::string notes;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at)
    if (std::strcmp(argv[at], "--wait") == 0) {
      wait = true;
    } else if (std::strcmp(argv[at], "--put") == 0 && at + 2 < argc) {
      launch.substitutions.push_back({argv[at + 1], argv[at + 2]});
      at += 2;
    } else if (std::strcmp(argv[at], "--notes") == 0 && at + 2 < argc) {
      notes = argv[++at];
    }
  try {
    launch.program = argv[at];
    launch.arguments.assign(argv + at + 1, argv + argc);
    if (!notes.empty()) {
      const respike::ProgramImage program = respike::read_program(launch.program);
      launch.notes = respike::prepare_notes(notes, *program.platform);
    }
    if (wait) respike::end_as(respike::run_to_end(launch));
    respike::start(launch);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "substitute: %s\n", error.what());
    return 125;
  }
}
