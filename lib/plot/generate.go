//go:build ignore

// Generate vendors the ECharts build that live charts use: it has npm fetch
// the pinned package, checks it, and writes the library (compressed) and its
// licences into echarts/.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	spec   = "echarts@6.1.0"
	sha    = "681aff88cc1038c3fa941a3a53d1b177a52250b05335efc607d6105ae13be481"
	target = "echarts"
)

// The build named common holds bar and line charts with tooltips, legends and
// titles; the one named simple lacks those three, the whole one is twice as big.
var files = map[string]string{
	"package/dist/echarts.common.min.js": "echarts.common.min.js.gz",
	"package/LICENSE":                    "LICENSE",
	"package/NOTICE":                     "NOTICE",
	"package/licenses/LICENSE-d3":        "LICENSE-d3",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "echarts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	npm := exec.Command("npm", "pack", "--silent", spec)
	npm.Dir, npm.Stderr = dir, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm pack %s: %w", spec, err)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packs) != 1 {
		return fmt.Errorf("npm pack %s left %d archives, want 1", spec, len(packs))
	}
	pack, err := os.ReadFile(packs[0])
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(pack); hex.EncodeToString(sum[:]) != sha {
		return fmt.Errorf("sha256 of %s is %x, want %s", spec, sum, sha)
	}
	return unpack(pack)
}

func unpack(pack []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(pack))
	if err != nil {
		return err
	}
	found := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name, ok := files[h.Name]
		if !ok {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".gz" {
			data = compress(data)
		}
		if err := os.WriteFile(filepath.Join(target, name), data, 0o644); err != nil {
			return err
		}
		found++
	}
	if found != len(files) {
		return fmt.Errorf("%s holds %d of the %d files wanted", spec, found, len(files))
	}
	return nil
}

// compress leaves no time or name in the header, so that equal input gives
// equal output.
func compress(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	z.Write(data)                                         // a bytes.Buffer takes all
	z.Close()
	return b.Bytes()
}
