package kernel_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel"
)

func TestAnEngineThatDoesNotRunHere(t *testing.T) {
	defer kernel.MakeUnfit("vm", "it knows no pdp11 processors")()
	const why = "cells run on yaegi: the engine vm does not run here, it knows no pdp11 processors"
	for _, name := range []string{"", "vm"} {
		if engine, got, err := kernel.ChooseEngine(name); engine != "yaegi" || got != why || err != nil {
			t.Errorf("%q: %s, %q, %v", name, engine, got, err)
		}
	}
	if engine, why, err := kernel.ChooseEngine("yaegi"); engine != "yaegi" || why != "" || err != nil {
		t.Errorf("yaegi: %s, %q, %v", engine, why, err)
	}
	var log bytes.Buffer
	r, err := kernel.NewRunner(kernel.RunnerOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var printed strings.Builder
	run := func(source string) {
		if res, err := r.Execute(context.Background(), source, func(o kernel.Output) { printed.WriteString(o.Text) }); err != nil || res.Status != kernel.OK {
			t.Errorf("%s: %+v, %v", source, res, err)
		}
	}
	run("x := 1")
	run("%engine vm")
	run("x == 1")
	if r.Engine() != "yaegi" || r.LanguageInfo()["engine"] != "yaegi" {
		t.Errorf("cells run on %s, which language_info says is %v", r.Engine(), r.LanguageInfo()["engine"])
	}
	if want := why + "\nCells run on yaegi as before.\n"; printed.String() != want {
		t.Errorf("printed %q, want %q", printed.String(), want)
	}
	if !strings.Contains(log.String(), why) {
		t.Errorf("the log has %q", log.String())
	}
}
