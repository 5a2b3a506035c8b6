// Package session runs one notebook: it keeps the cells' scope, hands checked
// cells to a worker process, and answers a front end's requests.
//
// A [Notebook] is the part that knows no protocol: Execute a cell, Interrupt
// it, Complete a name. A [Session] answers Jupyter messages by means of one.
// Neither opens a socket nor runs user code in this process.
package session
