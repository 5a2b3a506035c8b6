// Package worker is the process that runs cells, seen from both of its ends.
//
// The parent starts a [Process] and asks it to Run cells; the child calls
// [Serve]. Between them are one socket, over which frames travel (pipe.go),
// and two pipes, which are the child's file descriptors 1 and 2: whatever
// prints, Go or C, arrives.
//
// Order is kept by three rules. The child writes a cell's output before it
// sends a frame. The parent, when a frame arrives, drains both pipes before it
// reads the frame. And after a show frame the child waits for the parent's
// acknowledgement, so that what it prints next cannot overtake the display.
// Between the two pipes themselves the order is that in which they had something
// to read. Who writes by fmt, log or log/slog waits until the other pipe is empty
// (engine.Ordered); of what C code and other processes write, lines that
// alternate within a wake-up of the parent, some tens of microseconds, are
// grouped by stream. What a goroutine prints when its cell is over belongs to the
// cell that ran last: a pipe does not say who wrote.
//
// What one cell shows is bounded (capture.go), the rest of its text goes into a
// file (overflow.go), and what a Jupyter server would drop waits (pace.go). An
// interrupted cell waits for what it prints until that is read.
//
// The child's standard input is a pipe that it fills itself (stdin.go): when it
// sees that a cell waits for input, it has the parent ask the user.
//
// Beside cells the child carries out commands: magics that need what cells have,
// the working directory, the environment, the output. What they start stays in
// the child's process group.
//
// The child lives no longer than its parent: it sees the end of the socket, and
// has a signal sent to it (PR_SET_PDEATHSIG). Then it ends, with all that its
// cells have started: it leads a process group of its own, and what left that
// has a mark in its environment (family.go).
package worker
