/* CPython from Debian's static library. */
#include <python3.11/Python.h>

int main(int argc, char** argv) { return Py_BytesMain(argc, argv); }
