// Example: the message for a difference in an image that an older Respike made is "... has another
// procedure at 0x120001000; an older Respike made the image, which may have taken steps that this
// one cannot follow".

#include "views/verification.h"

#include <fmt/format.h>

#include "instrument/check_output.h"
#include "optimizer/base/error.h"
#include "optimizer/fingerprint.h"
#include "optimizer/image/provenance.h"
#include "optimizer/replay/rewritten.h"

namespace respike {
namespace {

/// A hint for the message when another Respike made the image: that Respike may take steps that
/// this one does not undo before comparing, so a difference need not be a mistake.
std::string made_by_another(const Image& before, const Image& image) {
  const auto note = read_provenance(image);
  if (!note || note->type != NoteType::rewritten || note->fingerprint == kFingerprint ||
      before.machine != image.machine)
    return "";
  return fmt::format(
      "; {} Respike made the image, which may have taken steps that this one cannot "
      "follow: make it again, or let that one verify it",
      note->fingerprint.empty() ? "an older" : "another");
}

/// Throws Error when the comparison reached less than half of the blocks. It does not reach dead
/// code, to which no entry, symbol, word of data or branch leads: at most 3% of real programs. The
/// share depends only on the input: the comparison reaches all code that is reachable in the input,
/// or ends with a difference.
void require_coverage(const CompareCounts& counts, const std::string& path) {
  if (counts.blocks_reached < counts.blocks / 2)
    throw Error(
        fmt::format("only {} of its {} basic blocks could be compared: nothing leads to the "
                    "others",
                    counts.blocks_reached, counts.blocks),
        path);
}

}  // namespace

std::string verify_files(const std::filesystem::path& original,
                         const std::filesystem::path& rewritten, Diagnostics& diagnostics,
                         const Progress& progress) {
  const Image before = read_image(original);
  const Image after = read_image(rewritten);
  if (after.symbols.empty() && !before.symbols.empty())
    throw Error("the image is stripped: outputs can be verified before they are stripped",
                rewritten);
  CompareCounts counts;
  const auto compare = is_instrumented(after) ? verify_counting_image : verify_images;
  if (const auto difference = compare(before, after, diagnostics, &counts, progress))
    throw Error(*difference + made_by_another(before, after), rewritten);
  require_coverage(counts, original);
  return fmt::format("{} of its {} basic blocks were compared", counts.blocks_reached,
                     counts.blocks);
}

}  // namespace respike
