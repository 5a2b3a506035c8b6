package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Verify reads the cached file of the catalogued model called name and
// compares its digest with the catalogue's. A file that differs gives a
// [*DigestError]; one that was never fetched, [fs.ErrNotExist].
func Verify(ctx context.Context, name string, opt Options) error {
	return verify(ctx, builtin, name, opt)
}

func verify(ctx context.Context, entries []Entry, name string, opt Options) error {
	entry, path, err := locate(entries, name, opt)
	if err != nil {
		return err
	}
	found, err := Digest(ctx, path)
	if err != nil {
		return fmt.Errorf("catalog: verify model %q: %w", name, err)
	}
	if found != entry.SHA256 {
		return fmt.Errorf("catalog: verify model %q: %w", name, &DigestError{Path: path, Found: found, Want: entry.SHA256})
	}
	return nil
}

// Digest returns the SHA-256 of the file at path, in hex.
func Digest(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := copyTelling(ctx, io.Writer(hash), file, func(int64) {}); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
