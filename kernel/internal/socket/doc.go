// Package socket owns the kernel's ZeroMQ sockets, and is the only package of
// the kernel that knows of ZeroMQ.
//
// A [Hub] binds the five sockets of a connection file. One goroutine, locked
// to its thread, does everything that touches them: a ZeroMQ socket must not
// be used by two threads, and a ROUTER both sends and receives. Send may be
// called from anywhere: it queues frames and wakes that goroutine through an
// inproc pair. What arrives is handed to a function that must not block.
//
// What a frame means is not known here.
package socket
