/* Loads of gp after direct calls; some of them look needless and are not.
 *
 * build: STATIC -O2 -pthread
 * build: STATIC -O1 -pthread -Wl,--no-relax
 * build: -O2 -pthread
 * build: -O2 -pthread -fPIE -pie
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

/* These variables are reached by way of gp. */
long counter, results[64];
static long hidden;
static char letters[64];

/* Leaves that leave gp alone: the compiler and the linker call them directly. */
NOINLINE static long leaf(long x) {
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

NOINLINE static long keeps(long x) {
    hidden += x;
    return leaf(x) + leaf(x + hidden % 7) + counter;
}

/* Calls an unknown function, then loads its own gp again. */
NOINLINE static long by_pointer(long (*f)(long), long x) { return f(x) + hidden; }

/* Written by hand:
 *  spoils         changes gp
 *  spoils_late    branches to spoils
 *  remember       keeps its return address elsewhere, as setjmp does
 *  go_back        jumps to that address, with another gp
 *  switch_stack   goes on on another stack, and leaves the gp of that other side
 *  other_side     runs on the other stack, with another gp
 */
long spoils(long), spoils_late(long), remember(long *), switch_stack(long **, long *);
void go_back(long *, long), other_side(void);
__asm__(
    ".text\n.set noreorder\n.set nomacro\n.set noat\n"
    ".align 4\n.ent spoils\nspoils:\n.frame $30,0,$26,0\n.prologue 0\n"
    "addq $16,1,$0\nlda $29,64($31)\nret $31,($26),1\n.end spoils\n"
    ".align 4\n.ent spoils_late\nspoils_late:\n.frame $30,0,$26,0\n.prologue 0\n"
    "addq $16,1,$16\nbr $31,spoils\n.end spoils_late\n"
    ".align 4\n.ent remember\nremember:\n.frame $30,0,$26,0\n.prologue 0\n"
    "stq $26,0($16)\nstq $30,8($16)\nstq $9,16($16)\nstq $10,24($16)\nstq $11,32($16)\n"
    "stq $12,40($16)\nstq $13,48($16)\nstq $14,56($16)\nstq $15,64($16)\n"
    "bis $31,$31,$0\nret $31,($26),1\n.end remember\n"
    ".align 4\n.ent go_back\ngo_back:\n.frame $30,0,$26,0\n.prologue 0\n"
    "ldq $26,0($16)\nldq $30,8($16)\nldq $9,16($16)\nldq $10,24($16)\nldq $11,32($16)\n"
    "ldq $12,40($16)\nldq $13,48($16)\nldq $14,56($16)\nldq $15,64($16)\n"
    "bis $17,$17,$0\nlda $29,64($31)\nret $31,($26),1\n.end go_back\n"
    ".align 4\n.ent switch_stack\nswitch_stack:\n.frame $30,64,$26,0\n.prologue 0\n"
    "lda $30,-80($30)\nstq $26,0($30)\nstq $9,8($30)\nstq $10,16($30)\nstq $11,24($30)\n"
    "stq $12,32($30)\nstq $13,40($30)\nstq $14,48($30)\nstq $15,56($30)\n"
    "stq $30,0($16)\nbis $17,$17,$30\n"
    "ldq $26,0($30)\nldq $9,8($30)\nldq $10,16($30)\nldq $11,24($30)\n"
    "ldq $12,32($30)\nldq $13,40($30)\nldq $14,48($30)\nldq $15,56($30)\n"
    "lda $30,80($30)\nret $31,($26),1\n.end switch_stack\n"
    /* $9: where this side's stack pointer is kept; $10: where the other side's is; $11: a number. */
    ".align 4\n.ent other_side\nother_side:\n.frame $30,0,$26,0\n.prologue 0\n"
    "addq $11,5,$11\nstq $11,0($12)\nlda $29,64($31)\n"
    "bis $9,$9,$16\nldq $17,0($10)\nbsr $26,switch_stack\n"
    "br $31,other_side\n.end other_side\n"
    ".set at\n.set macro\n.set reorder\n");

NOINLINE static long call_spoilers(long x) {
    long a = spoils(x);
    counter += a;
    long b = spoils_late(x + leaf(x));
    counter += b;
    results[x & 63] += hidden;
    return a + b + counter;
}

NOINLINE static long go_and_come(long *place, long n) {
    hidden += 2;
    if (n < 5) go_back(place, n + 1);
    return hidden;
}

NOINLINE static long twice(void) {
    long place[9], n;
    n = remember(place);
    counter += n;
    results[n & 63] += leaf(counter);
    return go_and_come(place, n) + counter;
}

static long *this_stack, *that_stack, given;

NOINLINE static long switches(void) {
    static long memory[512];
    long sum = 0, *top = memory + 400;
    top[0] = (long)other_side; /* its return address */
    top[1] = (long)&that_stack, top[2] = (long)&this_stack, top[3] = 100, top[4] = (long)&given;
    that_stack = top;
    for (int i = 0; i < 6; i++) {
        switch_stack(&this_stack, that_stack);
        counter += given;
        sum += leaf(given) + hidden;
    }
    return sum;
}

static jmp_buf escape;
static sigjmp_buf from_handler;

static int compare(const void *a, const void *b) {
    hidden++;
    if (counter % 1000 == 999) longjmp(escape, 7);
    return (int)leaf(*(const char *)a) - (int)leaf(*(const char *)b);
}

NOINLINE static long sorts(int jump) {
    counter = jump ? 999 : 0;
    strcpy(letters, "the quick brown fox");
    int n = setjmp(escape);
    if (n == 0) qsort(letters, strlen(letters), 1, compare);
    hidden += leaf(n);
    results[5] += (long)strlen(letters) + letters[0];
    counter = 0;
    return results[5] + n;
}

static void handler(int number) {
    hidden += leaf(number);
    results[6] += keeps(number) % 100;
    if (counter == 4) siglongjmp(from_handler, 3);
}

NOINLINE static long signals(void) {
    signal(SIGUSR1, handler);
    long sum = 0;
    for (counter = 0; counter < 8; counter++) {
        if (sigsetjmp(from_handler, 1) == 0) raise(SIGUSR1);
        sum += leaf(counter) + results[6];
    }
    return sum;
}

static void *worker(void *argument) {
    long sum = (long)argument;
    for (int i = 0; i < 2000; i++) sum += leaf(sum) % 5 + by_pointer(leaf, i) % 3;
    return (void *)sum;
}

NOINLINE static long threads(void) {
    pthread_t all[4];
    long sum = 0;
    for (long i = 0; i < 4; i++)
        if (pthread_create(&all[i], NULL, worker, (void *)i)) exit(1);
    for (int i = 0; i < 4; i++) {
        void *one;
        pthread_join(all[i], &one);
        sum += (long)one + leaf(i);
    }
    return sum + hidden % 2;
}

int main(void) {
    for (long i = 0; i < 5; i++) printf("keeps %ld %ld\n", keeps(i), by_pointer(keeps, i));
    for (long i = 0; i < 5; i++) printf("spoiled %ld %ld\n", call_spoilers(i), by_pointer(spoils, i));
    printf("twice %ld\n", twice());
    printf("switches %ld\n", switches());
    printf("sorts %ld %ld\n", sorts(0), sorts(1));
    printf("signals %ld\n", signals());
    printf("threads %ld\n", threads());
    printf("%ld %ld %ld\n", counter, hidden, results[1] + results[5] + results[6]);
    return 0;
}
