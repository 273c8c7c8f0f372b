// Thread-local data of images, and the block of each thread by which code finds the data.
#pragma once

#include <stdbool.h>

#include "modules.h"

/// Lets threads ask for their block (rdteb). Other handlers of unknown instructions come first.
void serve_thread_data(void);
/// Gives the module a number and a block in each thread, if the module has thread-local data.
void add_thread_data(struct module* module);
void remove_thread_data(struct module* module);
/// Calls the module's own functions for thread-local data.
void call_thread_data_functions(const struct module* module, enum reason reason);
/// pthread_create() for programs: notifies libraries of the thread.
void* thread_creator(void);
