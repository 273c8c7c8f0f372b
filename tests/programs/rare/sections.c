/* Code in a section whose start and end the program knows by name.
   build: -O2
   build: -O2 STATIC */
#include <stdio.h>
__attribute__((section("mycode"),noinline)) int in1(int x){ return x>3? x*3:x+1; }
__attribute__((section("mycode"),noinline)) int in2(int x){ return x>5? x*2:in1(x); }
__attribute__((noinline)) int out1(int x){ return x>9? x*3:x+1; }
extern char __start_mycode[], __stop_mycode[]; extern char etext;
static int inside(void*p){ return (char*)p>=__start_mycode && (char*)p<__stop_mycode; }
int main(){ printf("%d %d %d %d\n",inside(in1),inside(in2),inside(out1),inside(main)); printf("%d %d\n",in2(4)+in2(9), out1(8)); printf("%d\n",(int)(__stop_mycode-__start_mycode)); }
