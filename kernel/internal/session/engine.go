package session

import (
	"fmt"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// chooseEngine is %engine: it says which engine runs the cells, or starts a
// worker with another one, which knows what cells declared that only declare.
func (t *turn) chooseEngine(step cell.Step) error {
	now := t.Engine()
	if step.Args == "" {
		t.print(fmt.Sprintf("Cells run on %s, of the engines %s.\n", now, strings.Join(t.opts.Engines, " and ")))
		return nil
	}
	if t.opts.ChooseEngine == nil {
		t.failMagic(step, "MagicError", "there are no engines to choose from")
		return nil
	}
	engine, why, err := t.opts.ChooseEngine(step.Args)
	switch {
	case err != nil:
		t.failMagic(step, "MagicError", err.Error())
		return nil
	case why != "":
		t.note(why)
	}
	if engine == now {
		t.print("Cells run on " + engine + " as before.\n")
		return nil
	}
	t.mu.Lock()
	t.engine = engine
	t.mu.Unlock()
	t.process.Close()
	lost, err := t.replace()
	if err != nil {
		return err
	}
	t.process, t.scope, _ = t.current()
	t.print("Cells run on " + engine + " from here on, in a new process.\n")
	for _, line := range lost.told() {
		t.print(line + "\n")
	}
	return nil
}
