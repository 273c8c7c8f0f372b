/* No-ops wherever a layout may drop or move them: at entries, in loops, between the halves of a load of gp, as the
   only instructions of a block, after calls that do not return, and in the forms that only look like code.
   build: -O2
   build: -O2 STATIC
   build: -O2 -fPIE -pie */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

long leading(long), looping(long), computed(long), calls_between(long), only(long), forms(long);
long helper(long x) { return x * 3 + 1; }

asm(".text\n.set noreorder\n.set nomacro\n.set noat\n"
    /* An entry of no-ops only, and a loop that jumps back to a no-op. */
    ".globl leading\n.ent leading\nleading: .frame $30,0,$26\n .prologue 0\n nop\n unop\n"
    "1: nop\n subq $16,1,$16\n addq $0,$16,$0\n bgt $16,1b\n unop\n ret\n.end leading\n"
    /* Alignment inside and in front of loops. */
    ".globl looping\n.ent looping\nlooping: .frame $30,0,$26\n .prologue 0\n mov 0,$0\n br 2f\n .align 4\n unop\n unop\n"
    "1: unop\n addq $0,$16,$0\n nop\n fnop\n2: nop\n subq $16,1,$16\n bge $16,1b\n nop\n ret\n nop\n nop\n.end looping\n"
    /* Computed jumps to blocks of no-ops only, in a row. */
    ".globl computed\n.ent computed\ncomputed: .frame $30,0,$26\n ldah $29,0($27)!gpdisp!901\n lda $29,0($29)!gpdisp!901\n .prologue 1\n mov 0,$0\n and $16,3,$1\n"
    " ldq $2,places($29)!literal\n s8addq $1,$2,$2\n ldq $3,0($2)\n jmp $31,($3),0\n"
    "p0: addq $0,1,$0\np1: unop\np2: nop\n fnop\np3: s8addq $0,$16,$0\n ret\n.end computed\n"
    ".section .data.rel.local,\"aw\"\n.align 3\nplaces: .quad p0, p1, p2, p3\n.text\n"
    /* No-ops between the two halves of a load of gp after a call. */
    ".globl calls_between\n.ent calls_between\ncalls_between: .frame $30,16,$26\n ldah $29,0($27)!gpdisp!902\n lda $29,0($29)!gpdisp!902\n lda $30,-16($30)\n"
    " stq $26,0($30)\n .prologue 1\n ldq $27,helper($29)!literal!904\n jsr $26,($27),helper!lituse_jsr!904\n"
    " ldah $29,0($26)!gpdisp!903\n nop\n unop\n lda $29,0($29)!gpdisp!903\n ldq $26,0($30)\n lda $30,16($30)\n ret\n.end calls_between\n"
    /* Instructions without an effect, and one with an effect: a prefetch is kept. */
    ".globl forms\n.ent forms\nforms: .frame $30,0,$26\n .prologue 0\n lda $31,4($16)\n ldah $31,1($16)\n addq $16,$16,$31\n"
    " ldl $31,-64($30)\n bis $31,$31,$31\n mulq $16,3,$0\n cmoveq $16,$16,$31\n cpys $f31,$f31,$f31\n ldq_u $31,1($30)\n"
    " umulh $0,$0,$31\n ret\n.end forms\n"
    /* A procedure of no-ops that runs into the next procedure; called through a pointer. */
    ".globl only\n.ent only\nonly: .frame $30,0,$26\n .prologue 0\n unop\n unop\n nop\n.end only\n"
    ".globl only_next\n.ent only_next\nonly_next: .frame $30,0,$26\n .prologue 0\n addq $16,9,$0\n ret\n unop\n.end only_next\n"
    ".set reorder\n.set macro\n.set at\n");

static int depth;
static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *unused) { (void)c, (void)unused; depth++; return _URC_NO_REASON; }
/* Callers of finish() end with the call: the return address is after their last instruction. */
__attribute__((noinline, noreturn)) static void finish(long n) {
  _Unwind_Backtrace(count, 0);
  printf("%ld, %s\n", n, depth > 3 ? "deep enough" : "too shallow");
  exit(depth > 3 ? 7 : 8);
}
__attribute__((noinline)) static long deeper(long n) { if (n > 40) finish(n); return n + 1; }
__attribute__((noinline)) static long middle(long n) { long r = deeper(n * 2); asm volatile("unop" ::: "memory"); if (r > 1000) finish(r); return r + 1; }

/* The handler resumes after the instruction that faulted, at a no-op. */
static void skip(int signal, siginfo_t *info, void *context) { (void)signal, (void)info; ((ucontext_t *)context)->uc_mcontext.sc_pc += 4; }
__attribute__((noinline)) static long faults(long n) {
  long result = n;
  asm volatile("ldq %0,0(%1)\n\tunop\n\tnop\n\taddq %0,5,%0" : "+r"(result) : "r"(8L) : "memory");
  return result;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  long (*volatile call[])(long) = {leading, looping, computed, calls_between, only, forms, faults};
  long sum = 0;
  for (long i = 0; i < 12; i++)
    for (unsigned k = 0; k < sizeof call / sizeof *call; k++) sum = sum * 5 + (k == 0 ? 0 : call[k](i)) + (k == 2);
  printf("%ld\n", sum);
  for (long i = 0; i < 90; i++) sum += middle(i);
  return sum & 63;
}
