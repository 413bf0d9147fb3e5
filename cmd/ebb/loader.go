package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/sm4c"
)

// A loader loads documents that definitions name: files, and what is on the web
// under one of the prefixes that the operator allows.
type loader struct {
	dir   string // from where files are looked up
	allow []*url.URL
}

// loadTime is how long loading a document may take.
const loadTime = 30 * time.Second

// loaderFor returns the loader of a definition's documents.
func (s *session) loaderFor(file string) (*loader, error) {
	l := &loader{dir: filepath.Dir(file)}
	for _, prefix := range s.allow {
		u, err := url.Parse(prefix)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, usagef("--allow %s: want the beginning of a URL, such as https://example.org/apis/", prefix)
		}
		l.allow = append(l.allow, u)
	}
	return l, nil
}

// load returns a document as JSON, which it may be in YAML, too.
func (l *loader) load(uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, err
	}
	var text []byte
	switch u.Scheme {
	case "", "file":
		name := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.dir, name)
		}
		text, err = readFile(name, sm4c.MaxDefinition)
	case "http", "https":
		text, err = l.fetch(u)
	default:
		return nil, fmt.Errorf("%s: is no scheme that documents are loaded by (use a file, or https:)", u.Scheme)
	}
	if ext := path.Ext(u.Path); err == nil && (ext == ".yaml" || ext == ".yml") {
		text, err = jsonOf(text)
	}
	return text, err
}

func jsonOf(text []byte) ([]byte, error) {
	d, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	text, _ = d.print()
	return text, nil
}

func (l *loader) fetch(u *url.URL) ([]byte, error) {
	if err := l.allows(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	client := &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 {
			return errors.New("it is redirected too often")
		}
		return l.allows(req.URL)
	}}
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read as far as it is wanted
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, sm4c.MaxDefinition+1))
	if len(text) > sm4c.MaxDefinition {
		return nil, fmt.Errorf("it is larger than %d bytes", sm4c.MaxDefinition)
	}
	return text, err
}

// allows returns an error for a URL that the operator does not allow.
func (l *loader) allows(u *url.URL) error {
	for _, a := range l.allow {
		under := path.Clean("/" + u.Path)
		at := strings.TrimSuffix(path.Clean("/"+a.Path), "/")
		if u.Scheme == a.Scheme && u.Host == a.Host && u.User == nil && (under == at || strings.HasPrefix(under, at+"/")) {
			return nil
		}
	}
	return fmt.Errorf("it is not allowed (use --allow %s://%s/)", u.Scheme, u.Host)
}
