/* Labels reached by their distance to another label, by results of calls and by pointers.
   build: -O0
   build: -O1
   build: -O2
   build: -O3 -fPIC
   build: -Os STATIC
   expect: run1: unknown indirect jump
   expect: duff: unknown indirect jump
   expect: duff2: unknown indirect jump
   expect: run3: unknown indirect jump */
#include <stdio.h>
static int run1(const unsigned char*p,int x){ static const int off[]={&&a-&&a,&&b-&&a,&&c-&&a,&&d-&&a}; 
 goto *(&&a+off[*p++]); a: x+=1; goto *(&&a+off[*p++]); b: x*=3; goto *(&&a+off[*p++]); c: x-=7; goto *(&&a+off[*p++]); d: return x; }
static int run2(const unsigned char*p,int x){ static const int off[]={&&a-&&a,&&b-&&a,&&c-&&a,&&d-&&a}; void *base=&&a; void *next;
 next=base+off[*p++]; goto *next; a: x+=1; next=base+off[*p++]; goto *next; b: x*=3; next=base+off[*p++]; goto *next; c: x-=7;  next=base+off[*p++]; goto *next; d: return x; }
static __attribute__((noinline)) void *pick(void*base,int o){ return base+o; }
static int run3(const unsigned char*p,int x){ static const int off[]={&&a-&&a,&&b-&&a,&&c-&&a,&&d-&&a}; 
 goto *pick(&&a,off[*p++]); a: x+=1; goto *pick(&&a,off[*p++]); b: x*=3; goto *pick(&&a,off[*p++]); c: x-=7; goto *pick(&&a,off[*p++]); d: return x; }
static __attribute__((noinline)) void *same(void*p){ return p; }
static int run4(int n,int x){ void *t[]={&&a,&&b,&&c}; void *q; 
 l: if(n<0) return x; q=same(t[n%3]); n--; goto *q; a: x+=n; goto l; b: x*=3; goto l; c: x^=n; goto l; }
static int run5(int n){ void*l=&&odd; volatile int k=n; void **p=&l; if(n&1) *p=&&even; goto **p; odd: return k*2; even: return k*5; }
static int duff(int n,int x){ static const short off[]={&&a-&&a,&&b-&&a,&&c-&&a,&&d-&&a}; goto *(&&a+off[n&3]); a: x=x*3+1; b: x=x*5+2; c: x=x*7+3; d: return x; }
static int duff2(int n,int x){ static const int off[]={&&a-&&a,&&b-&&a,&&c-&&a,&&d-&&a}; goto *pick(&&a,off[n&3]); a: x=x*3+1; b: x=x*5+2; c: x=x*7+3; d: return x; }
int main(){ unsigned char p[]={0,1,2,0,1,0,2,3}; int s=run1(p,5)+2*run2(p,4)+3*run3(p,6); for(int i=0;i<12;i++) s=s*3+run4(i,i)+run5(i)+duff(i,i)+duff2(i,i+1); printf("%d\n",s); return s&31; }
