/* So many threads, each with an SQLite database of its own in memory; prints how many rows changed in all.
   Usage: sqlite_threads THREADS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

enum { MOST_THREADS = 64, ROUNDS = 12 };

static const char* const kScript =
    "drop table if exists t;"
    "create table t(a integer primary key, b text);"
    "with recursive c(x) as (values(1) union all select x + 1 from c where x < 20000)"
    "  insert into t select x, 'row ' || x from c;"
    "select count(*), sum(a), max(b) from t where b like '%7%';"
    "select a % 10 as k, count(*), min(b) from t group by k order by k;";

static void* work(void* changes) {
  sqlite3* database;
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) exit(1);
  for (int i = 0; i < ROUNDS; ++i)
    if (sqlite3_exec(database, kScript, 0, 0, 0) != SQLITE_OK) exit(1);
  *(int*)changes = sqlite3_total_changes(database);
  sqlite3_close(database);
  return 0;
}

int main(int argc, char** argv) {
  const int count = argc == 2 ? atoi(argv[1]) : 0;
  if (count < 1 || count > MOST_THREADS) return 2;
  pthread_t threads[MOST_THREADS];
  int changes[MOST_THREADS], sum = 0;
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], 0, work, &changes[i]);
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], 0);
    sum += changes[i];
  }
  printf("%d\n", sum);
  return 0;
}
