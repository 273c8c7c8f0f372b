// CMake makes the precompiled header of all libraries with this file.
