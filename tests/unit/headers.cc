// CMake makes the precompiled headers of all tests with this file.
