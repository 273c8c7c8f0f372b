; The input of llvm.cc: a loop with a call that can be inlined, and a switch.
target triple = "x86_64-unknown-linux-gnu"

define internal i32 @step(i32 %x, i32 %kind) {
entry:
  switch i32 %kind, label %other [
    i32 0, label %add
    i32 1, label %multiply
    i32 2, label %mix
    i32 3, label %shift
  ]
add:
  %a = add i32 %x, 17
  ret i32 %a
multiply:
  %m = mul i32 %x, 37
  ret i32 %m
mix:
  %s = lshr i32 %x, 5
  %y = xor i32 %x, %s
  ret i32 %y
shift:
  %l = shl i32 %x, 3
  ret i32 %l
other:
  ret i32 %x
}

define i32 @run(ptr %kinds, i32 %count) {
entry:
  %any = icmp sgt i32 %count, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = phi i32 [ 1, %entry ], [ %y, %loop ]
  %place = getelementptr i32, ptr %kinds, i32 %i
  %kind = load i32, ptr %place
  %y = call i32 @step(i32 %x, i32 %kind)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  %result = phi i32 [ 0, %entry ], [ %y, %loop ]
  ret i32 %result
}
