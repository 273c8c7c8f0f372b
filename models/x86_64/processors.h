#pragma once
// The processors of the model, as numbers, with the source of each number.
//
//   SOG   AMD, Software Optimization Guide for AMD Family 19h Processors, 56665, 2020. Read only as
//         LLVM quotes it (llvm/lib/Target/X86/X86ScheduleZnver3.td); marked "memory" otherwise.
//   AT3   AnandTech, "AMD Zen 3 Ryzen Deep Dive Review", 2020, page 3, read
//   ATG   AnandTech, "A Deep Dive into Intel's Alder Lake Microarchitectures", 2021, page 3, read
//         in part; OTG: overclock-then-game.com, "Alder Lake's review", 2022, read in part
//   HP    notes on the chapter about Golden Cove in Hennessy and Patterson, "Computer
//         Architecture", read; the book is not
//   JC    github.com/jiegec/cpu, docs/comparison.md, read: sizes of branch predictors and
//         translation buffers, with its sources
//   IOM   Intel 64 and IA-32 Architectures Optimization Reference Manual; not available: memory
//   C&C   chipsandcheese.com, "Popping the Hood on Golden Cove", 2021, measurements; memory
//   EPYC  the rest of the processor time of SQLite and bzip2 on an EPYC 7003 of 3.2 GHz after
//         subtracting the other parts of the model: 0.18 to 0.31 cycles an instruction; smaller the
//         less other work the machine had
//   memory   remembered, without the source at hand
//   assumed  not known
//
// Both have a first level of 32 KB with 8 ways and lines of 64 bytes (AT3, OTG, JC), which fetch.h
// has.

#include <cstdint>
#include <string_view>

#include "models/x86_64/fetch.h"
#include "models/x86_64/prediction.h"

namespace respike::measure::x86 {

/// AMD Zen 3 (Ryzen 5000, EPYC 7003), 2020.
struct Zen3 {
  static constexpr std::string_view kName = "zen3";

  static constexpr unsigned kWidth = 6;  // macro-ops that are dispatched in a cycle: SOG 2.9.6
  /// 64 sets, 8 ways, 8 macro-ops in an entry: SOG 2.9.1. Windows of 64 bytes: SOG, memory.
  using MicroOps = MicroOpCache<64, 8, 8, 8>;
  /// An instruction that reads and writes memory is one macro-op: SOG, memory.
  static constexpr unsigned kReadWriteOps = 1;

  /// 512 KB, 8 ways: AT3.
  using SecondLevel = LruCache<1024, 8>;
  /// 64 entries, fully associative, and 512 entries (JC), 8 ways (memory).
  using TranslationBuffer = LruCache<1, 64>;
  using SecondTranslationBuffer = LruCache<64, 8>;

  /// 1,024 and 6,656 entries: AT3, JC. Ways: assumed.
  using Branches =
      BranchTargetBuffer<BranchTargets<256, 4>, BranchTargets<512, 13>, NoBranchTargets>;
  using Targets = TargetPredictor<1536>;    // AT3, JC
  static constexpr unsigned kReturns = 32;  // JC

  static constexpr uint32_t kExecutionTenths = 3;  // of a cycle, for each instruction: EPYC
  static constexpr uint64_t kMispredict = 13;      // the common case: SOG 2.8
  static constexpr uint64_t kSecondBranches = 3;   // bubbles: SOG, memory
  static constexpr uint64_t kThirdBranches = 0;
  static constexpr uint64_t kUnknownBranch = 8;  // the decoder finds the branch: assumed
  static constexpr uint64_t kDecode =
      2;  // 8 macro-ops by 4 decoders instead of from the cache: AT3
  static constexpr uint64_t kSecondLevel = 12;       // SOG, memory
  static constexpr uint64_t kThirdLevel = 34;        // further cycles: 46 in all: SOG, memory
  static constexpr uint64_t kSecondTranslation = 7;  // assumed
  static constexpr uint64_t kWalk = 25;              // further cycles: assumed
};

/// Intel Golden Cove (Core of the 12th generation, Xeon Sapphire Rapids), 2021; the caches of Core.
struct GoldenCove {
  static constexpr std::string_view kName = "goldencove";

  static constexpr unsigned kWidth = 6;  // micro-ops that are renamed in a cycle: ATG, memory
  /// 4,096 micro-ops, 8 in a cycle: HP. 64 sets, 8 ways, at most 6 entries for a window of 64
  /// bytes: IOM, memory.
  using MicroOps = MicroOpCache<64, 8, 8, 6>;
  /// The read with the operation, and the write: IOM, memory.
  static constexpr unsigned kReadWriteOps = 2;

  /// 1.25 MB, 10 ways: C&C.
  using SecondLevel = LruCache<2048, 10>;
  /// 256 entries (JC, HP), 8 ways (IOM), and 2,048 entries, 16 ways (IOM), which data shares.
  using TranslationBuffer = LruCache<32, 8>;
  using SecondTranslationBuffer = LruCache<128, 16>;

  /// 128, 6,144 and 12,288 entries: JC; 12K: OTG, HP. Ways: assumed.
  using Branches =
      BranchTargetBuffer<BranchTargets<32, 4>, BranchTargets<1024, 6>, BranchTargets<2048, 6>>;
  using Targets = TargetPredictor<2048>;    // assumed
  static constexpr unsigned kReturns = 24;  // assumed; 22 in the previous processor (JC)

  static constexpr uint32_t kExecutionTenths = 3;  // like Zen 3: assumed
  static constexpr uint64_t kMispredict = 17;      // ATG, memory
  static constexpr uint64_t kSecondBranches = 1;   // bubbles: C&C
  static constexpr uint64_t kThirdBranches = 2;    // bubbles: C&C
  static constexpr uint64_t kUnknownBranch = 10;   // the decoder finds the branch: assumed
  static constexpr uint64_t kDecode =
      2;  // 8 micro-ops by 6 decoders (HP) instead of from the cache
  static constexpr uint64_t kSecondLevel = 15;       // C&C
  static constexpr uint64_t kThirdLevel = 55;        // further cycles: 70 in all: C&C
  static constexpr uint64_t kSecondTranslation = 7;  // assumed
  static constexpr uint64_t kWalk = 25;              // further cycles: assumed
};

}  // namespace respike::measure::x86
