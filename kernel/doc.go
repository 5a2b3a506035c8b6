// Package kernel is Branchbook's Jupyter kernel: [Serve] is the front end that
// Jupyter starts, [ServeWorker] the process that it runs cells in, [Runner]
// runs cells without Jupyter, and [Install] makes the kernel known to Jupyter.
//
// It never runs a user's code in the front end's process, and never exits or
// prints: package cmd/branchbook does.
package kernel
