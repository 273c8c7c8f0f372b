#pragma once
// Images, profiles and outcomes in words: the command line prints these, and a window shows them.

#include <string>
#include <vector>

#include "applications/environment.h"

namespace respike {

/// "1 run"; runs are rounded to tenths.
std::string runs_text(double runs);
/// "3 runs of older builds, confidence 0.95".
std::string carried_text(double runs, double confidence);
/// "2 runs, which entered 41% of the procedures, 3 days old"; "no profile".
std::string profile_text(const ProfileView& profile);
/// The same for a cell of a table: "2 runs", "none".
std::string short_profile_text(const ProfileView& profile);

/// Why an image is left alone. For a system library the text is shorter: the user cannot link it
/// again.
std::string left_alone_text(const ImageRow& image);
/// What was made of an image: "instrumented, optimized before the latest runs"; "nothing made of
/// it".
std::string made_text(const ImageView& view);

/// The text as one word for a shell. Example: v 3/out becomes 'v 3/out'.
std::string shell_word(const std::string& text);

/// "3 runs of jq and 1 run of lua were counted"; empty: no run was counted.
std::string counted_text(const std::vector<CountedRuns>& counted);
/// "no run of jq was counted: ...", with the likely reason.
std::string uncounted_text(const CountedRuns& counted);

/// "SIGSEGV".
std::string signal_name(int signal);
/// Why the original runs in mode optimized, and what the user can do.
std::string guard_text(const std::string& application, const FaultRow& fault);

/// "sqlite3: registered".
std::string registered_text(const RegisterResult& result);

/// What instrument(), optimize() and export_images() did with an image of state `made`.
std::string instrumented_text(const ImageOutcome& outcome);
std::string optimized_text(const ImageOutcome& outcome);
std::string exported_text(const ImageOutcome& outcome);

/// A line for each image; `made` gives the text for images that were made. Libraries that can never
/// be optimized, such as those of the system, are left to left_alone_line(), unless the user named
/// the images (`named`).
std::vector<std::string> outcome_lines(const std::vector<ImageOutcome>& outcomes, bool named,
                                       std::string (*made)(const ImageOutcome&));

/// "left alone: 2 libraries", for the images that outcome_lines() leaves out; empty: none.
std::string left_alone_line(const std::vector<ImageOutcome>& outcomes, bool named);

/// "merged 2 counter files; 1 of programs that still run".
std::string collected_text(const MergeResult& result);
/// "removed 3 builds, 4,711 bytes"; "would remove ..."; "nothing to remove".
std::string pruned_text(const PruneResult& result, bool dry_run);

}  // namespace respike
