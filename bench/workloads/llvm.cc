// Optimizes a module of LLVM's intermediate representation and prints assembly for its target; with
// WITH_LLD links what its arguments name instead, if there are several. `targets.inc` lists
// functions, TARGET(LLVMInitializeX86Target) and so on: they decide how large the program is.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#ifdef WITH_LLD
#include <lld/Common/Driver.h>
LLD_HAS_DRIVER(elf)
#endif

#define TARGET(initialize) extern "C" void initialize();
#include "targets.inc"
#undef TARGET

using namespace llvm;

static void optimize(Module& module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules);
}

int main(int argc, char** argv) {
#define TARGET(initialize) initialize();
#include "targets.inc"
#ifdef WITH_LLD
  if (argc > 2) {
    std::vector<const char*> words(argv, argv + argc);
    words[0] = "ld.lld";
    return lld::lldMain(words, outs(), errs(), {{lld::Gnu, &lld::elf::link}}).retCode;
  }
#endif
  LLVMContext context;
  SMDiagnostic problem;
  const auto module = argc == 2 ? parseIRFile(argv[1], problem, context) : nullptr;
  if (!module) return errs() << "no module\n", 1;
  std::string error;
  const Triple triple = module->getTargetTriple();
  const Target* target = TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return errs() << error << "\n", 1;
  const std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, "", "", TargetOptions(), Reloc::PIC_));
  module->setDataLayout(machine->createDataLayout());
  optimize(*module);
  SmallString<0> text;
  raw_svector_ostream out(text);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile)) return 1;
  passes.run(*module);
  outs() << text;
}
