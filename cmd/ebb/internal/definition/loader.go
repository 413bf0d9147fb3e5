package definition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/engine/grpc"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/regularfile"
	"github.com/ebbflow/ebb/internal/webclient"
	"github.com/ebbflow/ebb/internal/webscope"
)

// A Loader loads documents that definitions name: regular files and web documents. The files are in the folder of the
// definition or in folders that the operator allows. The web documents are below a URL that the operator allows.
// The author of a definition is not trusted and may name any document. A document that the operator names on the
// command line is read wherever it is.
//
// Errors never quote the content of a file or the answer of a server.
type Loader struct {
	dir     string           // folder of the definition, in which relative paths are looked up; absolute
	folders []string         // folders from which files may be loaded, including dir; absolute
	web     []webscope.Scope // web documents that may be loaded
	beside  string           // dir as the user names it
	loaded  func(string)     // called with the name of each file that is to be read; may be nil
}

// loadTime bounds the loading of a document.
const loadTime = 30 * time.Second

// errNotAllowed is the error for a document that may not be loaded.
var errNotAllowed = errors.New("it is not in the definition's folder, nor below what --allow names")

// NewLoader returns a loader of the documents that a file names. It loads them from the folder of the file, from the
// given folders (absolute paths), and from the web.
func NewLoader(file string, folders []string, web []webscope.Scope) (*Loader, error) {
	l, err := loaderBeside(file)
	if err != nil {
		return nil, err
	}
	l.folders = append(l.folders, folders...)
	l.web = web
	return l, nil
}

// loaderBeside returns a loader of files in the folder of a file.
func loaderBeside(file string) (*Loader, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, limitedfile.Unreadable(file, err)
	}
	return &Loader{dir: dir, folders: []string{dir}}, nil
}

// load returns a document as JSON, which it may be in YAML, too. A schema of gRPC comes with what it imports.
func (l *Loader) load(uri string) ([]byte, error) {
	if grpc.IsSchema(uri) {
		return grpc.Schema(context.Background(), uri, l.loadText)
	}
	text, err := l.loadText(uri)
	if u, _ := url.Parse(uri); err == nil && (path.Ext(u.Path) == ".yaml" || path.Ext(u.Path) == ".yml") {
		text, err = jsonOf(text)
	}
	return text, err
}

// loadText returns a document as it is.
func (l *Loader) loadText(uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("it is not a valid URL")
	}
	var text []byte
	switch {
	case u.Scheme == "" && u.Host == "" || u.Scheme == "file" && (u.Host == "" || u.Host == "localhost"):
		text, err = l.read(filepath.FromSlash(u.Path), sm4c.MaxDefinition)
	case u.Scheme == "http" || u.Scheme == "https":
		text, err = l.fetch(u)
	default:
		return nil, errors.New("documents are loaded from files, and by http: and https: only")
	}
	return text, err
}

// shown returns the name of a file as the user would name it.
func (l *Loader) shown(file string) string {
	name, err := filepath.Rel(l.dir, file)
	if err != nil {
		return file
	}
	return filepath.Join(l.beside, name)
}

// read returns the text of a regular file in one of the folders.
func (l *Loader) read(name string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.dir, name)
	}
	for _, folder := range l.folders {
		within, err := filepath.Rel(folder, name)
		if err != nil || !filepath.IsLocal(within) {
			continue
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, errors.New("its folder cannot be opened")
		}
		if l.loaded != nil {
			l.loaded(name)
		}
		text, err := regularfile.Read(root, within, limit)
		return text, errors.Join(err, root.Close())
	}
	return nil, errNotAllowed
}

// jsonOf converts a YAML document to JSON. It does not return the parser's error, which quotes the document.
func jsonOf(text []byte) ([]byte, error) {
	d, err := document.ParseYAML(text)
	if broken, is := errors.AsType[*document.Error](err); is {
		return nil, fmt.Errorf("it is not valid YAML (line %d)", broken.Line)
	}
	if err != nil {
		return nil, errors.New("it is not valid YAML")
	}
	text, _ = d.Print()
	return text, nil
}

func (l *Loader) fetch(u *url.URL) ([]byte, error) {
	if err := l.allows(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("it cannot be asked for")
	}
	client := &http.Client{
		Transport: webclient.Default().Transport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > webclient.MaxRedirects {
				return errors.New("it is redirected too often")
			}
			if l.allows(req.URL) != nil {
				return errRedirected
			}
			return nil
		},
	}
	answer, err := client.Do(req)
	switch {
	case errors.Is(err, errRedirected):
		return nil, errRedirected
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the server took longer than %v", loadTime)
	case err != nil:
		return nil, fmt.Errorf("the server cannot be asked: %w", withoutURL(err))
	}
	defer func() { _ = answer.Body.Close() }() // the body was read as far as needed
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %d", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, sm4c.MaxDefinition+1))
	if len(text) > sm4c.MaxDefinition {
		return nil, fmt.Errorf("it is larger than %d bytes", sm4c.MaxDefinition)
	}
	return text, err
}

// errRedirected is the error if a server redirects to a URL that is not allowed. It does not name the URL, which
// the server chose.
var errRedirected = errors.New("the server redirects to what --allow does not name")

// withoutURL returns an error of a client without the URL, which the caller names.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// allows returns an error for a URL that the operator does not allow.
func (l *Loader) allows(u *url.URL) error {
	for _, scope := range l.web {
		switch err := scope.Allows(u); {
		case err == nil:
			return nil
		case !errors.Is(err, webscope.ErrOutside):
			return err // an ambiguous URL is never allowed
		}
	}
	return errNotAllowed
}
