package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// An asset is a file that pages refer to. Its address contains its hash, so that a browser may keep it for ever.
type asset struct {
	mime string
	text []byte
}

// addFile serves a file of the folder static, with a text after it, and returns its address.
func (c *console) addFile(name, mime, after string) string {
	return c.add(name, mime, embedded(name)+after)
}

// add serves a text under a name with its hash, and returns its address.
func (c *console) add(name, mime, contents string) string {
	text := []byte(contents)
	sum := sha256.Sum256(text)
	kind := path.Ext(name)
	at := strings.TrimSuffix(name, kind) + "." + hex.EncodeToString(sum[:6]) + kind
	c.files[at] = asset{mime, text}
	return at
}

// embedded returns the text of a file of the folder static.
func embedded(name string) string {
	text, err := files.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

func (a asset) serve(w http.ResponseWriter) {
	w.Header().Set("Content-Type", a.mime)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.text) // the client may have disconnected
}
