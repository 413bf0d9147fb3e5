package server

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/regularfile"
)

// Limits of the key file.
const (
	leastKey = 32 // minimum length of a key, in characters
	//limit:http keys, each of {leastKey} characters or more | {}
	maxKeys = 1000
)

// keysAge is the maximum age of the keys in memory. A key that was removed from the file is accepted for at most
// this time.
const keysAge = time.Second

// forAWS is the purpose of a key with which clients of AWS sign their requests. Such a key has no other purpose.
const forAWS = "aws"

// Purposes of keys for people and their programs. Both open the paths of pagePaths.
const (
	forOperate = "operate" // also to change something
	forView    = "view"    // only to read
)

// pagePaths are the first elements of the paths that keys for view and for operate open.
var pagePaths = []string{"api", "console"}

// Purposes returns the purposes that a key may have. A key for "view" may only read the console and the API, and a key
// for "operate" may also use them to change something. Of the others than these and "aws", each is the first element
// of the paths that the key opens.
func Purposes() []string { return []string{forAWS, "events", "metrics", forOperate, "tasks", forView} }

// accessKeyID is what AWS accepts as the ID of an access key.
//
//limit:protocol ID of an access key in a file of keys | 16 to 128 characters of `A-Z`, `a-z`, `0-9` and `_` |
//limit:and refused
var accessKeyID = regexp.MustCompile(`^\w{16,128}$`)

// A holder is the client that has a key.
type holder struct {
	name  string
	only  []string // purposes of the key; nil means all but those that a key must name
	login bool     // the key was given at the login
}

// may reports whether the holder may send a request of this method to this path.
func (h *holder) may(method, asked string) bool {
	first, all := firstOf(asked), len(h.only) == 0
	if slices.Contains(pagePaths, first) {
		return h.operates() || (all || slices.Contains(h.only, forView)) && reads(method)
	}
	return all || slices.Contains(h.only, first) && first != forView && first != forOperate
}

// firstOf returns the first element of a path.
func firstOf(asked string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+asked), "/"), "/")
	return first
}

// isAmbiguous reports whether the first element of a path depends on when it is unescaped, as in /console/..%2Fmetrics.
// [http.ServeMux] divides a path into elements first, and handlers may unescape it first.
func isAmbiguous(asked *url.URL) bool {
	first, err := url.PathUnescape(firstOf(asked.EscapedPath()))
	return err != nil || first != firstOf(asked.Path)
}

// isPage reports whether a request is for the console or the API.
func isPage(r *http.Request) bool { return slices.Contains(pagePaths, firstOf(r.URL.Path)) }

// operates reports whether the holder may change something in the console and the API. A key must name that purpose.
func (h *holder) operates() bool { return slices.Contains(h.only, forOperate) }

// reads reports whether requests of a method change nothing.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// keys are the accepted keys.
type keys struct {
	holders map[[sha256.Size]byte]holder // by the hash of the key
	secrets map[string]string            // of AWS's clients, by the ID of the access key
}

// unlimited returns the names of the keys without a purpose.
func (k *keys) unlimited() []string {
	var names []string
	for _, of := range k.holders {
		if len(of.only) == 0 {
			names = append(names, of.name)
		}
	}
	slices.Sort(names)
	return names
}

// A keyring contains the current keys of a file. While the file cannot be read or has an error, the previous keys
// are valid. If the file is not a regular file, such as a pipe, it is read once: reading it again would block all
// requests.
type keyring struct {
	file string
	once bool
	log  hclog.Logger

	mu     sync.Mutex
	looked time.Time
	wrong  string   // the error that was logged last
	warned []string // keys without a purpose that were logged last
	keys   *keys
	ended  map[string]time.Time // logins that ended by logging out: signatures of cookies, and when those expire
}

// newKeyring reads a file with a name, a key, and the purposes of the key, on each line. Only the owner of the file
// may have permission to read it. If root owns the file, a group may also read it, because systemd and Kubernetes
// provide secrets in this way.
func newKeyring(file string, log hclog.Logger) (*keyring, error) {
	f, err := limitedfile.Open(file)
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
	k := &keyring{file: file, once: !info.Mode().IsRegular(), log: log, looked: time.Now()}
	k.accept(all)
	return k, nil
}

// accept replaces the keys, and warns of those that may do more than they probably should.
func (k *keyring) accept(all *keys) {
	k.keys, k.wrong = all, ""
	if names := all.unlimited(); !slices.Equal(names, k.warned) {
		k.warned = names
		if names != nil {
			k.log.Warn(logevent.KeysUnlimited, "file", k.file, "names", names)
		}
	}
}

// now returns the keys. It reads the file again if they are older than keysAge.
func (k *keyring) now() *keys {
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
			k.log.Error(logevent.KeysReloadFailed, "error", err)
		}
		return k.keys
	}
	k.accept(all)
	return all
}

// secret returns the secret of an access key of AWS.
func (k *keyring) secret(id string) (secret string, ok bool) {
	secret, ok = k.now().secrets[id]
	return secret, ok
}

// of returns the holder of a request's key, or nil if the request has no key of the keyring.
func (k *keyring) of(r *http.Request) *holder {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	var found *holder
	shown := sha256.Sum256([]byte(strings.TrimSpace(key)))
	for one, of := range k.now().holders { // compare with all keys, in constant time
		if subtle.ConstantTimeCompare(one[:], shown[:]) == 1 {
			found = &of
		}
	}
	return found
}

// read returns the keys in the file.
func (k *keyring) read() (*keys, error) {
	f, err := regularfile.OpenNamed(k.file)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return readKeys(f)
}

// readKeys reads an open file, and closes it.
func readKeys(f *os.File) (*keys, error) {
	defer func() { _ = f.Close() }() // the file was only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		return nil, fmt.Errorf("keys: %s is no file, but a folder or a device", f.Name())
	}
	if info.Mode().Perm()&othersOf(info) != 0 {
		return nil, fmt.Errorf("keys %s: file permissions are too open: run chmod 600 %s", f.Name(), f.Name())
	}
	text, err := limitedfile.ReadOpen(f, maxSecretFile)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return parseKeys(f.Name(), text)
}

func parseKeys(file string, text []byte) (*keys, error) {
	all, lines := &keys{holders: map[[sha256.Size]byte]holder{}, secrets: map[string]string{}},
		bufio.NewScanner(bytes.NewReader(text))
	names := map[[sha256.Size]byte]string{}
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) == 1 {
			return nil, fmt.Errorf("keys %s:%d: want a name and a key, and what it is for if not for all", file, n)
		}
		name, key, only := words[0], words[1], words[2:]
		if err := checkKey(name, key, only); err != nil {
			return nil, fmt.Errorf("keys %s:%d: %w", file, n, err)
		}
		hash := sha256.Sum256([]byte(key))
		_, defined := all.secrets[name]
		switch other, twice := names[hash]; {
		case len(names) == maxKeys:
			return nil, fmt.Errorf("keys %s:%d: the file has more than %d keys", file, n, maxKeys)
		case twice: // otherwise one name might open paths that the other must not
			return nil, fmt.Errorf("keys %s:%d: %s and %s have the same key", file, n, other, name)
		case !slices.Contains(only, forAWS):
			all.holders[hash] = holder{name: name, only: only}
		case defined:
			return nil, fmt.Errorf("keys %s:%d: the access key %s has two secrets", file, n, name)
		default:
			all.secrets[name] = key
		}
		names[hash] = name
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("keys %s: %w", file, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("keys %s: the file has no keys: write a name and a key on each line", file)
	}
	return all, nil
}

// checkKey checks one line of the file.
func checkKey(name, key string, only []string) error {
	unknown := slices.IndexFunc(only, func(word string) bool { return !slices.Contains(Purposes(), word) })
	switch {
	case len(key) < leastKey:
		return fmt.Errorf("the key of %s is shorter than %d characters: make one with openssl rand -hex 32", name, leastKey)
	case unknown >= 0:
		return fmt.Errorf("the key of %s is for %s, which is not known (use %s, or nothing for all)", name, only[unknown],
			strings.Join(Purposes(), ", "))
	case !slices.Contains(only, forAWS):
		return nil
	case len(only) > 1:
		return fmt.Errorf("the key of %s is for %s and more: give the other purposes to another key", name, forAWS)
	case !accessKeyID.MatchString(name):
		return fmt.Errorf("%.200q is not the ID of an access key: want 16 to 128 characters of A-Z, a-z, 0-9 and _", name)
	}
	return nil
}
