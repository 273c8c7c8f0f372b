/* Threads, mutexes, condition variables, barriers, atomics (ldx_l/stx_c loops of every size),
   thread-local storage of all models, thread-specific data with destructors, once, cancellation. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 2003 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t semaphore;
static long shared_total;
static int turn;
static atomic_long atomic_total;
static atomic_int small_counter, destructors, once_runs;
static atomic_uchar byte_counter;
static atomic_ushort half_counter;
static unsigned long bits;

static __thread int local_zero;
static __thread long local_value = 41;
static __thread char local_text[100] = "initial";
__thread int exported_local = 7;

static void run_once(void) {
  atomic_fetch_add(&once_runs, 1);
}
static void destroy(void* value) {
  atomic_fetch_add(&destructors, *(int*)value);
  free(value);
}

__attribute__((noinline)) static int touch_locals(int id) {
  local_zero += id;
  local_value += local_zero;
  exported_local *= 3;
  snprintf(local_text, sizeof local_text, "thread %d", id);
  return (int)strlen(local_text);
}

static void* worker(void* arg) {
  int id = (int)(long)arg;
  pthread_once(&once, run_once);
  int* mine = malloc(sizeof *mine);
  *mine = id + 1;
  pthread_setspecific(key, mine);
  pthread_barrier_wait(&barrier);
  long spins = 0;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&lock);
    shared_total += id + 1;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&atomic_total, id);
    atomic_fetch_add_explicit(&small_counter, 1, memory_order_relaxed);
    atomic_fetch_add(&byte_counter, 1);
    atomic_fetch_sub(&half_counter, 3);
    __atomic_fetch_xor(&bits, 1UL << (id * 8 + i % 8), __ATOMIC_SEQ_CST);
    long seen = atomic_load(&atomic_total);
    while (!atomic_compare_exchange_weak(&atomic_total, &seen, seen + 2)) spins++;
    if (i % 100 == 0) touch_locals(id);
  }
  pthread_mutex_lock(&lock); /* take turns in order */
  while (turn != id) pthread_cond_wait(&changed, &lock);
  printf("thread %d: zero %d value %ld text '%s' exported %d\n", id, local_zero, local_value,
         local_text, exported_local);
  turn++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  sem_post(&semaphore);
  return (void*)(long)(id * id);
}

static void cleanup(void* text) {
  printf("cleanup handler: %s\n", (char*)text);
}

static void* cancelled(void* arg) {
  (void)arg;
  pthread_cleanup_push(cleanup, "cancelled in pause");
  sem_post(&semaphore);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return 0;
}

static void* exits_deep_inside(void* arg) {
  pthread_cleanup_push(cleanup, "pthread_exit");
  if (arg) pthread_exit("left early");
  pthread_cleanup_pop(0);
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  pthread_key_create(&key, destroy);
  sem_init(&semaphore, 0, 0);
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], 0, worker, (void*)i)) return 1;
  for (int i = 0; i < THREADS; i++) sem_wait(&semaphore);
  long squares = 0;
  for (int i = 0; i < THREADS; i++) {
    void* result;
    pthread_join(threads[i], &result);
    squares += (long)result;
  }
  printf("mutex %ld atomic %ld small %d byte %d half %d bits %lx\n", shared_total,
         atomic_load(&atomic_total), atomic_load(&small_counter), atomic_load(&byte_counter),
         atomic_load(&half_counter), bits);
  printf("squares %ld destructors %d once %d main local %d %ld %s\n", squares,
         atomic_load(&destructors), atomic_load(&once_runs), local_zero, local_value, local_text);

  pthread_t victim;
  void* result;
  pthread_create(&victim, 0, cancelled, 0);
  sem_wait(&semaphore);
  pthread_cancel(victim);
  pthread_join(victim, &result);
  printf("cancelled: %s\n", result == PTHREAD_CANCELED ? "yes" : "no");
  pthread_create(&victim, 0, exits_deep_inside, "x");
  pthread_join(victim, &result);
  printf("result: %s\n", (char*)result);
  return 3;
}
