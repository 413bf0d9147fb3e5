package server

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/regularfile"
)

// Limits of the file of keys.
const (
	leastKey = 32   // characters
	maxKeys  = 1000 // in all
)

// keysAge is the maximum age of the keys in memory. A key that was removed from the
// file is accepted for at most this time.
const keysAge = time.Second

// Purposes returns the purposes that a key may have. A purpose is the first word of the paths that the key opens.
func Purposes() []string { return []string{"events", "metrics", "tasks"} }

// A holder is the client that has a key.
type holder struct {
	name string
	only []string // of the purposes; none is all
}

// may reports whether a holder may ask for a path.
func (h *holder) may(asked string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+asked), "/"), "/")
	return len(h.only) == 0 || slices.Contains(h.only, first)
}

// keys maps the hash of each accepted key to its holder.
type keys map[[sha256.Size]byte]holder

// A keyring has the current keys of a file. While the file cannot be read or has an
// error, the previous keys count. If the file is not a regular file, such as a pipe,
// it is read once: reading it again would block all requests.
type keyring struct {
	file string
	once bool
	log  hclog.Logger

	mu     sync.Mutex
	looked time.Time
	wrong  string // what was last said to be wrong
	keys   keys
}

// newKeyring reads a file with a name, a key, and the purposes of the key, on each line.
// Only the owner of the file may have permission to read it. A group may read a file that
// root owns, as systemd and Kubernetes provide secrets this way.
func newKeyring(file string, log hclog.Logger) (*keyring, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", errors.Join(err, f.Close()))
	}
	all, err := readKeys(f)
	if err != nil {
		return nil, err
	}
	return &keyring{file: file, once: !info.Mode().IsRegular(), log: log, looked: time.Now(), keys: all}, nil
}

// now returns the keys, reading the file again when that is a while ago.
func (k *keyring) now() keys {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.once || time.Since(k.looked) < keysAge {
		return k.keys
	}
	k.looked = time.Now()
	all, err := k.read()
	if err != nil {
		if k.wrong != err.Error() {
			k.wrong = err.Error()
			k.log.Error("the keys stay as they were", "error", err)
		}
		return k.keys
	}
	k.keys, k.wrong = all, ""
	return all
}

// of returns the holder of a request's key, or nil if the request has no key of the keyring.
func (k *keyring) of(r *http.Request) *holder {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	var found *holder
	shown := sha256.Sum256([]byte(strings.TrimSpace(key)))
	for one, of := range k.now() { // all of them, and each for as long as any other
		if subtle.ConstantTimeCompare(one[:], shown[:]) == 1 {
			found = &of
		}
	}
	return found
}

// read returns the keys that stand in the file now.
func (k *keyring) read() (keys, error) {
	f, err := regularfile.OpenNamed(k.file)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return readKeys(f)
}

// readKeys reads an open file, and closes it.
func readKeys(f *os.File) (keys, error) {
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if info.Mode().Perm()&othersOf(info) != 0 {
		return nil, fmt.Errorf("keys %s: others than its owner may read it: chmod 600 %s", f.Name(), f.Name())
	}
	text, err := limitedfile.ReadOpen(f, maxSecretFile)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return parseKeys(f.Name(), text)
}

func parseKeys(file string, text []byte) (keys, error) {
	all, lines := keys{}, bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("keys %s:%d: want a name and a key, and what it is for if not for all", file, n)
		}
		name, key, only := words[0], words[1], words[2:]
		unknown := slices.IndexFunc(only, func(word string) bool { return !slices.Contains(Purposes(), word) })
		switch {
		case len(key) < leastKey:
			return nil, fmt.Errorf("keys %s:%d: the key of %s is shorter than %d characters: make one with openssl rand -hex 32", file, n, name, leastKey)
		case unknown >= 0:
			return nil, fmt.Errorf("keys %s:%d: the key of %s is for %s, which is not known (use %s, or nothing for all)",
				file, n, name, only[unknown], strings.Join(Purposes(), ", "))
		case len(all) == maxKeys:
			return nil, fmt.Errorf("keys %s:%d: there are more than %d", file, n, maxKeys)
		}
		hash := sha256.Sum256([]byte(key))
		if other, twice := all[hash]; twice { // or the one might open what the other does not
			return nil, fmt.Errorf("keys %s:%d: %s and %s have the same key", file, n, other.name, name)
		}
		all[hash] = holder{name, only}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("keys %s: %w", file, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("keys %s: there are none in it: write a name and a key on each line", file)
	}
	return all, nil
}
