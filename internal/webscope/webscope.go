// Package webscope says which URLs lie below a URL that an operator allows. It compares the form that a server sees
// after it has decoded the URL any number of times. It refuses a URL that two programs could understand differently,
// with the reason.
//
//	below, err := webscope.Parse("https://example.org/apis/")
//	…
//	err = below.Allows(u) // nil for https://EXAMPLE.org:443/apis/shop.json
//
// The package compares names. It does not resolve a name to an address: an operator who
// allows a host trusts the owner of the host with the address.
package webscope

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Scope is the part of the web below one URL: its path, and every path that starts with this path and a slash.
type Scope struct{ at form }

// ErrOutside is returned for a URL outside of the scope.
var ErrOutside = errors.New("it is not below a URL that is allowed")

// A form is the normal form of a URL. It holds only the parts that select the server and the document.
type form struct {
	scheme, host, port string
	path               string // decoded, begins with a slash
}

// Parse returns the scope below a URL. The error never contains the URL, which may contain a password.
func Parse(text string) (Scope, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return Scope{}, errors.New("it is not a valid URL")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Scope{}, errors.New("it has a query or a fragment")
	}
	at, err := normal(u)
	at.path = strings.TrimSuffix(at.path, "/")
	return Scope{at}, err
}

// Allows returns nil for a URL in the scope, and [ErrOutside] for a URL outside. It returns another error for a URL
// that could be understood differently.
func (s Scope) Allows(u *url.URL) error {
	is, err := normal(u)
	switch {
	case err != nil:
		return err
	case is.scheme != s.at.scheme || is.host != s.at.host || is.port != s.at.port,
		is.path != s.at.path && !strings.HasPrefix(is.path, s.at.path+"/"):
		return ErrOutside
	}
	return nil
}

// normal returns the normal form of a URL as a client sends it.
func normal(u *url.URL) (form, error) {
	f := form{scheme: strings.ToLower(u.Scheme)}
	switch {
	case f.scheme != "http" && f.scheme != "https":
		return f, errors.New("it is no http: or https: URL")
	case u.User != nil:
		return f, errors.New("it has a user or a password in it")
	case u.Opaque != "" || u.Host == "":
		return f, errors.New("it names no host")
	}
	var err error
	if f.host, err = normalHost(u.Hostname()); err != nil {
		return f, err
	}
	if f.port, err = normalPort(f.scheme, u); err != nil {
		return f, err
	}
	f.path, err = normalPath(u.EscapedPath())
	return f, err
}

// normalHost returns a host in lower case. It returns an address in its usual form.
func normalHost(host string) (string, error) {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" || ip.Is4In6() {
			return "", errors.New("its address has a zone, or is one of IPv4 within IPv6")
		}
		return ip.String(), nil
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", errors.New(
				"its host has an empty part, or other characters than letters of English, digits, dots and hyphens (write other " +
					"letters as xn--…)")
		}
	}
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", errors.New("its host is an address in an unusual form (write one such as 192.0.2.1)")
	}
	return host, nil
}

// defaultPorts are the ports of schemes, for URLs without a port.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

func normalPort(scheme string, u *url.URL) (string, error) {
	port := u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		return defaultPorts[scheme], nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", errors.New("its port is no plain number")
	}
	return port, nil
}

// normalPath returns the decoded path. Decoding it again does not change it, and no program splits it differently.
func normalPath(sent string) (string, error) {
	path, err := url.PathUnescape(sent)
	if err != nil || !utf8.ValidString(path) {
		return "", errors.New("its path does not decode to UTF-8")
	}
	for i := range len(sent) - 2 {
		if sent[i] != '%' {
			continue
		}
		if c, err := strconv.ParseUint(sent[i+1:i+3], 16, 8); err == nil && strings.IndexByte(`./\%;?#`, byte(c)) >= 0 {
			return "", fmt.Errorf("its path has %q in an encoded form", rune(c))
		}
	}
	if strings.Contains(path, `\`) || strings.ContainsFunc(path, unicode.IsControl) || strings.ContainsAny(path,
		lookalikes) {
		return "", errors.New("its path has a backslash, a control character, or one that looks like a dot or a slash")
	}
	for part := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(part, ";") // some servers read parameters after it
		if part != "" && strings.Trim(name, ". ") == "" {
			return "", errors.New("its path has a part of nothing but dots or blanks")
		}
	}
	if path == "" {
		path = "/"
	}
	return path, nil
}

// lookalikes are characters that some servers take for dots, slashes, backslashes and percent signs, because they
// normalize names.
const lookalikes = "\u2024\u2025\u2026\u2044\u2215\u29f8\u2216\u29f5\ufe52\uff05\uff0e\uff0f\uff3c\ufe68\ufe6a"
