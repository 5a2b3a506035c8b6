// Package kerneltest is a Jupyter front end for tests: it starts a kernel as
// Jupyter does and says, one call a message, what must come back.
//
//	k := kerneltest.Start(t, []string{"branchbook", "kernel"})
//	r := k.Execute(`fmt.Println("hi"); 1 + 1`)
//	r.Busy()
//	r.Input(1)
//	r.Stream("stdout", "hi\n")
//	r.Result("2")
//	r.ReplyOK(1)
//	r.Idle()
//
// A message that is not the expected one fails the test, and so does Idle when
// outputs came that nobody expected. The package reads and signs frames with
// code of its own, so that it and the kernel cannot be wrong in the same way.
package kerneltest
