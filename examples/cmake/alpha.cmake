# Debian's cross compiler for Alpha.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR alpha)
set(CMAKE_C_COMPILER alpha-linux-gnu-gcc)
