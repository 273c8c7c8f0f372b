"""Runs inside LLDB for debug_lldb_test.py: stops one image at instructions, and says what LLDB shows there.

The environment variable DEBUG_JOB names a JSON file with: result; image; arguments and stdin of the program; frames (how
many are shown, or 0); stops, a list of [key, addresses, passes].

The result is a list of [key, frames] in the order of the run, each when the program comes for the `passes`th time to
one of the addresses. A frame is [function, whether it is inlined, FILE:LINE, {variable: value}]; a value is null if
LLDB does not know it, and an object that refers to other objects is shown without them, since addresses differ from
program to program. Frames that a tail call removed are left out."""

import json
import os

import lldb

JOB = json.load(open(os.environ["DEBUG_JOB"]))
MOST_CHILDREN = 20
ADDRESSES = lldb.eTypeIsPointer | lldb.eTypeIsReference


class Place:
    """One of the places where the program shall stop once."""

    def __init__(self, key, passes):
        self.key, self.left, self.breakpoints = key, passes, []


def value_of(variable, depth=0):
    """A text, or None."""
    if variable.GetError().Fail():
        return None
    kind = variable.GetType().GetCanonicalType()
    if kind.GetTypeFlags() & ADDRESSES:
        return "address" if variable.GetValue() is not None else None
    if kind.GetTypeClass() in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion, lldb.eTypeClassArray):
        if depth == 2:
            return "..."
        plain = variable.GetNonSyntheticValue()
        parts = [plain.GetChildAtIndex(i) for i in range(min(plain.GetNumChildren(), MOST_CHILDREN))]
        values = [value_of(part, depth + 1) for part in parts]
        return None if parts and all(value is None for value in values) else f"{{{', '.join(map(str, values))}}}"
    return variable.GetValue()


def shown_frame(frame):
    line = frame.GetLineEntry()
    variables = {}
    # Arguments and locals, no statics; only variables of blocks around the program counter.
    for variable in frame.GetVariables(True, True, False, True):
        variables[variable.GetName() or "?"] = value_of(variable)
    return [frame.GetFunctionName() or "?", frame.IsInlined(), f"{line.GetFileSpec().GetFilename()}:{line.GetLine()}", variables]


def shown_stack(thread):
    frames = [thread.GetFrameAtIndex(i) for i in range(thread.GetNumFrames())] if JOB["frames"] else []
    return [shown_frame(frame) for frame in frames if not frame.IsArtificial()][: JOB["frames"]]


def launch(debugger):
    """A process that has not executed anything yet."""
    debugger.SetAsync(False)
    for setting in ("target.load-script-from-symbol-file false", "plugin.symbol-file.dwarf.ignore-file-indexes true"):
        debugger.HandleCommand(f"settings set {setting}")
    target = debugger.CreateTarget(JOB["image"])
    info = lldb.SBLaunchInfo(JOB["arguments"])
    info.SetLaunchFlags(lldb.eLaunchFlagStopAtEntry | lldb.eLaunchFlagDisableASLR)
    info.AddOpenFileAction(0, JOB["stdin"], True, False)
    info.AddOpenFileAction(1, os.devnull, False, True)
    info.AddOpenFileAction(2, os.devnull, False, True)
    error = lldb.SBError()
    process = target.Launch(info, error)
    if error.Fail():
        raise RuntimeError(str(error))
    signals = process.GetUnixSignals()
    for i in range(signals.GetNumSignals()):
        number = signals.GetSignalAtIndex(i)
        if signals.GetSignalAsCString(number) not in ("SIGTRAP", "SIGSTOP"):
            signals.SetShouldStop(number, False)
            signals.SetShouldNotify(number, False)
    return target, process


def put_breakpoints(target):
    """{address in the image: Place}"""
    places = {}
    for key, addresses, passes in JOB["stops"]:
        place = Place(key, passes)
        for address in addresses:
            breakpoint = target.BreakpointCreateBySBAddress(target.GetModuleAtIndex(0).ResolveFileAddress(address))
            place.breakpoints.append(breakpoint.GetID())
            places[address] = place
    return places


def stopped_thread(process):
    threads = (process.GetThreadAtIndex(i) for i in range(process.GetNumThreads()))
    return next((thread for thread in threads if thread.GetStopReason() == lldb.eStopReasonBreakpoint), None)


def main(debugger):
    target, process = launch(debugger)
    places, result = put_breakpoints(target), []
    while True:
        process.Continue()
        if process.GetState() != lldb.eStateStopped:
            break
        thread = stopped_thread(process)
        if thread is None:
            continue
        place = places.get(thread.GetFrameAtIndex(0).GetPCAddress().GetFileAddress())
        if place is None:
            raise RuntimeError(f"stopped at {thread.GetFrameAtIndex(0)}")
        place.left -= 1
        if place.left > 0 or not place.breakpoints:
            continue
        for number in place.breakpoints:
            target.BreakpointDelete(number)
        place.breakpoints = []
        result.append([place.key, shown_stack(thread)])
    with open(JOB["result"], "w") as out:
        json.dump(result, out)


def __lldb_init_module(debugger, _):
    main(debugger)
