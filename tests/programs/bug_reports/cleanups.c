/* Cleanups in C by compiler-rt's personality routine, which reads no LPStart. */
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>
static struct _Unwind_Exception thrown;
static void clean(int* n) { printf("cleaned %d\n", *n); }
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class, struct _Unwind_Exception* e,
                                struct _Unwind_Context* context, void* parameter) {
  if (actions & _UA_END_OF_STACK) exit(0);
  return _URC_NO_REASON;
}
__attribute__((noinline)) void leave(int n) {
  if (n) _Unwind_ForcedUnwind(&thrown, stop, 0);
}
__attribute__((noinline)) int f(int n) {
  __attribute__((cleanup(clean))) int a = n;
  leave(n - 1);
  leave(n);
  return n;
}
int main(int count, char** words) { return f(count) + (words == 0); }
