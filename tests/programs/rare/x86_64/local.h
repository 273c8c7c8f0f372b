/* A procedure without relocations to it: the code beside it knows only its distance. */
.text.type local, @function local : lea 70(% rdi), % eax ret.size local, .- local
