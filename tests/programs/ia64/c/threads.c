// Threads: storage of their own, locks, conditions, atomic operations, cancellation.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 8, kRounds = 5000 };

static __thread int own = 5;
static __thread char text[64] = "initial";
static int shared;
static atomic_long counter;
static long plain_add;
static _Atomic unsigned char byte_counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made, destroyed;
static int turn;

static void make(void) { made++; }
static void destroy(void *value) {
  __sync_fetch_and_add(&destroyed, 1);
  free(value);
}

static void *worker(void *argument) {
  long id = (long)argument;
  pthread_once(&once, make);
  pthread_setspecific(key, malloc(16));
  own += (int)id;
  snprintf(text, sizeof text, "thread %ld", id);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&counter, id);
    __sync_fetch_and_add(&plain_add, 3);
    byte_counter++;
    long seen = atomic_load(&counter);
    while (!atomic_compare_exchange_weak(&counter, &seen, seen ^ 0)) {}
  }
  for (int round = 0; round < 50; round++) {
    pthread_mutex_lock(&lock);
    while (turn % kThreads != id) pthread_cond_wait(&condition, &lock);
    turn++;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
  }
  char expected[64];
  snprintf(expected, sizeof expected, "thread %ld", id);
  return (void *)(long)(own * 10 + (strcmp(text, expected) == 0));
}

static void *sleeper(void *argument) {
  (void)argument;
  for (;;) sleep(10);
  return 0;
}

static void *owner(void *argument) {
  pthread_mutex_lock(argument);
  return 0;
}

// 16 bytes are loaded and stored at once.
static struct { _Alignas(16) long halves[2]; } pair;
static atomic_int pair_done;
static void store_pair(long value) {
#ifdef __ia64__
  asm volatile("mov ar.csd = %1;;\n\tst16 [%0] = %1, ar.csd" : : "r"(&pair), "r"(value) : "memory");
#else
  (void)value;
#endif
}
static int torn_pair(void) {
  long low = 0, high = 0;
#ifdef __ia64__
  asm volatile("ld16 %0, ar.csd = [%2];;\n\tmov %1 = ar.csd" : "=&r"(low), "=r"(high) : "r"(&pair) : "memory");
#endif
  return low != high;
}
static void *pair_writer(void *argument) {
  (void)argument;
  for (long i = 0; i < 300000; i++) store_pair(i);
  atomic_store(&pair_done, 1);
  return 0;
}
static int torn_pairs(void) {
  pthread_t other;
  pthread_create(&other, 0, pair_writer, 0);
  int torn = 0;
  while (!atomic_load(&pair_done)) torn += torn_pair();
  pthread_join(other, 0);
  return torn;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_key_create(&key, destroy);
  pthread_barrier_init(&barrier, 0, kThreads);
  for (long i = 0; i < kThreads; i++) {
    if (pthread_create(&threads[i], 0, worker, (void *)i) != 0) return 1;
  }
  for (int i = 0; i < kThreads; i++) {
    void *result;
    pthread_join(threads[i], &result);
    printf("%ld ", (long)result);
  }
  printf("\n%d %ld %ld %d\n", shared, atomic_load(&counter), plain_add, byte_counter);
  printf("%d %d %d %d %s\n", made, destroyed, turn, own, text);

  pthread_t other;
  pthread_create(&other, 0, sleeper, 0);
  usleep(20000);
  pthread_cancel(other);
  void *result;
  pthread_join(other, &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);

  pthread_mutex_t robust;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  pthread_create(&other, 0, owner, &robust);
  pthread_join(other, 0);
  printf("robust %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);

  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_nsec += 20000000;
  if (now.tv_nsec >= 1000000000) { now.tv_nsec -= 1000000000; now.tv_sec++; }
  printf("timed out %d\n", sem_timedwait(&semaphore, &now) == -1 && errno == ETIMEDOUT);

  printf("torn pairs %d\n", torn_pairs());

  // Many short threads, one after the other.
  long sum = 0;
  for (long i = 0; i < 100; i++) {
    pthread_create(&other, 0, (void *(*)(void *))labs, (void *)-i);
    pthread_join(other, &result);
    sum += (long)result;
  }
  printf("short %ld\n", sum);
  return 0;
}
