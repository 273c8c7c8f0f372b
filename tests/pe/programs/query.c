// query.exe: uses sqlite3.dll in another way than the shell does.
#include <stdio.h>
#include <stdlib.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
int sqlite3_open(const char* name, sqlite3** database);
int sqlite3_close(sqlite3* database);
int sqlite3_exec(sqlite3* database, const char* text, int (*row)(void*, int, char**, char**), void* data, char** error);
int sqlite3_prepare_v2(sqlite3* database, const char* text, int size, sqlite3_stmt** statement, const char** rest);
int sqlite3_bind_int(sqlite3_stmt* statement, int index, int value);
int sqlite3_step(sqlite3_stmt* statement);
int sqlite3_reset(sqlite3_stmt* statement);
int sqlite3_finalize(sqlite3_stmt* statement);
int sqlite3_create_function(sqlite3* database, const char* name, int arguments, int encoding, void* data,
                            void (*function)(sqlite3_context*, int, sqlite3_value**), void (*step)(sqlite3_context*, int, sqlite3_value**),
                            void (*final)(sqlite3_context*));
int sqlite3_value_int(sqlite3_value* value);
void sqlite3_result_int(sqlite3_context* context, int value);

static void triple(sqlite3_context* context, int count, sqlite3_value** values) {
  (void)count;
  sqlite3_result_int(context, 3 * sqlite3_value_int(values[0]));
}

static int print_row(void* data, int count, char** values, char** names) {
  ++*(int*)data;
  for (int i = 0; i < count; ++i) printf("%s=%s ", names[i], values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 200;
  sqlite3* database;
  sqlite3_stmt* insert;
  char* error = 0;
  int printed = 0;
  if (sqlite3_open(":memory:", &database) != 0) return 2;
  sqlite3_create_function(database, "triple", 1, 1, 0, triple, 0, 0);
  sqlite3_exec(database, "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT); CREATE INDEX i ON t(b)", 0, 0, &error);
  sqlite3_prepare_v2(database, "INSERT INTO t(b, c) VALUES(?1, printf('%08x', ?1 * 2654435761))", -1, &insert, 0);
  for (int i = 0; i < rows; ++i) {
    sqlite3_bind_int(insert, 1, i * 7919 % 1000);
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_exec(database, "SELECT b % 7 AS k, count(*), sum(triple(b)), min(c) FROM t GROUP BY k ORDER BY 3 DESC", print_row, &printed, &error);
  sqlite3_exec(database, "SELECT x.a, y.a FROM t x JOIN t y ON x.b = y.b AND x.a < y.a LIMIT 5", print_row, &printed, &error);
  sqlite3_exec(database, "SELECT nothing", print_row, &printed, &error);
  printf("%d rows, %s\n", printed, error ? error : "no error");
  return sqlite3_close(database);
}
