// Package wire is Jupyter's message format: frames, signatures and one Go
// type for each message's content, as in "Messaging in Jupyter", protocol 5.5.
//
// It opens no socket and keeps no state but a [Codec]'s memory of signatures.
// Start with Codec, which turns frames into a [Message] and back.
package wire

// Version is the protocol version that this package speaks.
const Version = "5.5"
