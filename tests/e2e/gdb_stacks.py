"""Call stacks, inside gdb, for the scripts that compare them."""

import gdb

LONGEST = 80  # frames


def call_stack(bias):
    """The program counters of the frames, the innermost first, without the load bias. Inline frames are left out: they
    are known from debug information, which outputs lack."""
    stack, frame = [], gdb.newest_frame()
    while frame is not None and len(stack) < LONGEST:
        if frame.type() != gdb.INLINE_FRAME:
            stack.append(frame.pc() - bias)
        try:
            frame = frame.older()
        except gdb.error:
            break
    return stack
