/* Symbols made by the linker: aliases, places in procedures, wrapped and undefined weak symbols.
   build: -O2 -Wl,--defsym=other=target_fn -Wl,--defsym=mid=target_fn+8 -Wl,--wrap=wrapped
   build: -O2 -Wl,--defsym=other=target_fn -Wl,--defsym=mid=target_fn+8 -Wl,--wrap=wrapped STATIC */
#include <stdio.h>
#include <string.h>
extern int other(int); extern char mid[]; int wrapped(int); int __real_wrapped(int); extern void nothere(void) __attribute__((weak)); extern int nodata __attribute__((weak));
__attribute__((noinline)) int target_fn(int x){ printf("t%d\n",x); return x*2+1; }
__attribute__((noinline)) int __wrap_wrapped(int x){ return __real_wrapped(x+1)*10; }
int (*tab[])(int)={target_fn,other,0}; void *weaks[]={&nothere,&nodata};
asm(".text\n.globl wrapped\n.ent wrapped\nwrapped: addl $16,4,$0\n ret\n.end wrapped\n .data\n.align 3\nrel: .quad target_fn+8\nrel32: .long target_fn - rel32\n.globl rel\n.globl rel32\n.text\n");
extern long rel; extern int rel32;
int main(int argc,char**argv){ int s=0; for(int i=0;tab[i];i++) s+=tab[i](i); printf("%d %d %d %d %d\n",s,weaks[0]==0,weaks[1]==0,(char*)rel-(char*)target_fn==8, wrapped(3)); 
 printf("%d\n", (char*)&rel32+rel32==(char*)target_fn); printf("%d\n",(int)(mid-(char*)target_fn)); if(nothere) nothere(); return s; }
