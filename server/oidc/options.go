package oidc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/server"
)

// Options say which provider knows the people, and what each of them may do.
type Options struct {
	Issuer   string // address of the provider, as its ID tokens name it
	Client   string // ID of this program at the provider
	Secret   string // secret of this program at the provider; "" for a public client
	Callback string // full address, below that of the guarded pages, to which the provider sends people back
	// Scopes are asked for beside openid, email and profile. Many providers name a person's groups only on request.
	Scopes []string
	// Caller decides, at each login, who a person is to Ebb. If ok is false, the person may not enter.
	Caller func(Person) (c server.Caller, ok bool)
	// Session is how long a login lasts; 0 means an hour. Then the browser goes to the provider again, which usually
	// answers without asking the person.
	Session time.Duration
	// Key signs the cookies, with at least 32 bytes. Processes that serve the same pages need the same key. If it is
	// nil, New makes one, and all sessions end with the process.
	Key  []byte
	HTTP *http.Client // for requests to the provider; nil means one that waits for ten seconds at most
	Log  hclog.Logger // nil means no log
}

// A Person is what the provider says of a user who logged in.
type Person struct {
	Subject string   // never changes, and is unique at the provider
	Email   string   // "" unless the provider has verified it
	Name    string   // as people write it; not unique
	Groups  []string // nil if the provider names none
}

const (
	usualSession = time.Hour
	answerTime   = 10 * time.Second // for the provider
	keySize      = 32
)

// checked returns the options with their defaults, and the address of the callback.
func (o Options) checked() (Options, *url.URL, error) {
	if err := secureAddress("Issuer", o.Issuer); err != nil {
		return o, nil, err
	}
	if err := secureAddress("Callback", o.Callback); err != nil {
		return o, nil, err
	}
	callback, err := url.Parse(o.Callback)
	switch {
	case err != nil:
		return o, nil, fmt.Errorf("oidc: Options.Callback: %w", err)
	case strings.Trim(callback.Path, "/") == "" || strings.HasSuffix(callback.Path, "/") || callback.RawQuery != "":
		const want = "want a path that ends with a name, such as /ebb/callback"
		return o, nil, fmt.Errorf("oidc: Options.Callback %q: %s", o.Callback, want)
	case o.Client == "":
		return o, nil, errors.New("oidc: Options.Client is missing: the provider gives it when you register the program")
	case o.Caller == nil:
		return o, nil, errors.New("oidc: Options.Caller is missing: it decides who may enter")
	case o.Key != nil && len(o.Key) < keySize:
		return o, nil, fmt.Errorf("oidc: Options.Key has %d bytes: want at least %d random ones", len(o.Key), keySize)
	case o.Session < 0:
		return o, nil, fmt.Errorf("oidc: Options.Session is %v: want a positive time", o.Session)
	}
	if o.Key == nil {
		o.Key = make([]byte, keySize)
		_, _ = rand.Read(o.Key) // never fails
	}
	if o.Session == 0 {
		o.Session = usualSession
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: answerTime}
	}
	o.HTTP = bounded(o.HTTP)
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Log = o.Log.Named("oidc")
	return o, callback, nil
}

// secureAddress checks that what goes to an address can be read by its owner only: it has TLS, or is on this machine.
func secureAddress(option, address string) error {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.User != nil || at.Fragment != "" {
		return fmt.Errorf("oidc: Options.%s %q: want an address such as https://example.org/path", option, address)
	}
	ip := net.ParseIP(at.Hostname())
	local := at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if at.Scheme != "https" && (at.Scheme != "http" || !local) {
		return fmt.Errorf("oidc: Options.%s %q: want https; http only on this machine", option, address)
	}
	return nil
}
