package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// After a form was sent, the browser goes to a page that says what was done. The server signs what that page says, for
// the caller who sent the form and for a short time. Otherwise any link could say that something was done.

const (
	toldTime   = time.Minute // for which a page says what was done
	secretKind = "console.secret"
	secretKey  = "told"
	didStore   = "stored" // what is told of a stored definition
)

// secret returns the key of the signatures, which all processes on the database use.
func (c *console) secret(ctx context.Context) (key []byte, err error) {
	record, err := c.store.NamedRecord(ctx, secretKind, secretKey)
	if err == nil {
		err = record.Body.Decode(&key)
	}
	return key, err
}

// newSecret is [console.secret] that draws the key if there is none.
func (c *console) newSecret(ctx context.Context) ([]byte, error) {
	key, err := c.secret(ctx)
	if !errors.Is(err, storage.ErrNotFound) {
		return key, err
	}
	key = make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	_, err = c.store.WriteRecords(ctx, storage.RecordWrite{Kind: secretKind, Key: secretKey, Body: atom.MustEncode(key)})
	if errors.Is(err, storage.ErrConflict) { // another process was faster
		return c.secret(ctx)
	}
	return key, err
}

func signed(key []byte, caller, did, until string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(until + "\x00" + did + "\x00" + caller)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// sign returns the parameter of a page that says what was done; "" if the store fails, and then the page says nothing.
func (c *console) sign(ctx context.Context, v *visit, did string) string {
	key, err := c.newSecret(ctx)
	if err != nil {
		return ""
	}
	until := strconv.FormatInt(v.now.Add(toldTime).Unix(), 10)
	return did + "~" + until + "~" + signed(key, v.caller.Name, did, until)
}

// did returns what was done before the page is shown; "" without the server's own signature.
func (c *console) did(ctx context.Context, v *visit) string {
	parts := strings.Split(v.query.Get("did"), "~")
	if len(parts) != 3 { //nolint:mnd // what was done, time and signature
		return ""
	}
	until, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || v.now.Unix() >= until {
		return ""
	}
	key, err := c.secret(ctx)
	if err != nil || !hmac.Equal([]byte(parts[2]), []byte(signed(key, v.caller.Name, parts[0], parts[1]))) {
		return ""
	}
	return parts[0]
}

// told says what was done before the page is shown.
func (c *console) told(ctx context.Context, v *visit) node {
	did := c.did(ctx, v)
	does, known := verbs[did]
	var said node
	switch {
	case did == didStore:
		said = say("✓ Stored.")
	case !known:
		return none
	case strings.HasPrefix(did, "run "):
		said = say("✓ {0}: it is in the inbox of the run, until the process that drives the run applies it.", say(does.label))
	default:
		said = say("✓ {0}: done.", say(does.label))
	}
	return el("p", class("told"), attr("role", "status"), said)
}
