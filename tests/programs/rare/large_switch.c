/* Tables of thousands of entries, and one inside another.
   build: -O0
   build: -O2
   build: -O2 -mno-explicit-relocs
   build: -Os -fPIE -pie */
#include <stdio.h>
#define C1(n) case n: x=x*(n|1)+y; break;
#define C10(n) C1(n) C1(n+1) C1(n+2) C1(n+3) C1(n+4) C1(n+5) C1(n+6) C1(n+7) C1(n+8) C1(n+9)
#define C100(n) C10(n) C10(n+10) C10(n+20) C10(n+30) C10(n+40) C10(n+50) C10(n+60) C10(n+70) C10(n+80) C10(n+90)
#define C1000(n) C100(n) C100(n+100) C100(n+200) C100(n+300) C100(n+400) C100(n+500) C100(n+600) C100(n+700) C100(n+800) C100(n+900)
__attribute__((noinline)) unsigned f(unsigned n,unsigned x,unsigned y){ switch(n){ C1000(0) C1000(1000) default: switch(y&15){ C10(0) default: x--; } } return x; }
int main(){ unsigned s=1; for(unsigned i=0;i<3000;i++) s=f((i*7)%2100,s,i); printf("%u\n",s); return s&31; }
