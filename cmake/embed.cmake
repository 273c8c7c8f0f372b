# Writes the bytes of a file as the elements of a C array, so that a program can carry the file:
#
#   cmake -D INPUT=FILE -D OUTPUT=FILE -P embed.cmake
#
# Example: the bytes 7f 45 4c become "0x7f,0x45,0x4c,".

file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "([^\n]{80})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
