// Clang's front end with LLVM's optimizer and code generator: `clang -cc1` without its driver.

#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <llvm/Support/TargetSelect.h>

int main(int argc, char** argv) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  clang::CompilerInstance compiler;
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, new clang::DiagnosticOptions,
                                       new clang::TextDiagnosticBuffer);
  const llvm::ArrayRef<const char*> words(argv + 1, argv + argc);
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), words, diagnostics))
    return 2;
  compiler.createDiagnostics();
  clang::EmitObjAction action;
  return compiler.ExecuteAction(action) ? 0 : 1;
}
