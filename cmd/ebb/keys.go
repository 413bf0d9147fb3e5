package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"os"
	"runtime"
	"strings"
)

// Limits of the file of keys.
const (
	leastKey = 32   // characters
	maxKeys  = 1000 // in all
)

// keys are what those show who may ask, by the hash of each.
type keys map[[sha256.Size]byte]string

// readKeys reads a file with a name and a key on each line. Nobody but its owner may
// read it.
func readKeys(file string) (keys, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, usagef("--keys: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, usagef("--keys %s: others than its owner may read it: chmod 600 %s", file, file)
	}
	text, err := readFile(file, maxSecretFile)
	if err != nil {
		return nil, usagef("--keys: %w", err)
	}
	all, lines := keys{}, bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
			continue
		case len(words) != 2: //nolint:mnd // a name and a key
			return nil, usagef("--keys %s:%d: want a name and a key", file, n)
		case len(words[1]) < leastKey:
			return nil, usagef("--keys %s:%d: the key of %s is shorter than %d characters: make one with openssl rand -hex 32", file, n, words[0], leastKey)
		case len(all) == maxKeys:
			return nil, usagef("--keys %s:%d: there are more than %d", file, n, maxKeys)
		}
		all[sha256.Sum256([]byte(words[1]))] = words[0]
	}
	if len(all) == 0 {
		return nil, usagef("--keys %s: there are none in it: write a name and a key on each line", file)
	}
	return all, lines.Err()
}

// known returns whose key a request shows; false when it shows none that is there.
func (k keys) known(r *http.Request) (name string, ok bool) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	shown := sha256.Sum256([]byte(strings.TrimSpace(key)))
	for one, of := range k { // all of them, and each for as long as any other
		if subtle.ConstantTimeCompare(one[:], shown[:]) == 1 {
			name, ok = of, true
		}
	}
	return name, ok
}
