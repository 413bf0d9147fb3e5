package interop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLogin: a person pastes a key, and sees the page that he asked for. A key for view shows no button; a wrong key
// opens nothing; who has logged out, or whose key was removed, must log in again.
func TestLogin(t *testing.T) {
	t.Parallel()
	ann, bob := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	source := axe(t)
	for _, l := range []look{{1280, true, true}, {360, false, false}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			s := &site{dir: t.TempDir()}
			keys := filepath.Join(s.dir, "keys")
			write := func(text string) {
				if err := os.WriteFile(keys, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("ann " + ann + " operate\nbob " + bob + " view\n")
			if err := os.WriteFile(filepath.Join(s.dir, "timer.asl.json"), []byte(definitions["timer.asl.json"]), 0o600); err != nil {
				t.Fatal(err)
			}
			command(t, s.dir, "post", "timer.asl.json", "--id", timerRun)
			s.server = serve(t, s.dir, "serve", "--log-level", "error", "--keys", keys)
			t.Cleanup(s.kill)
			b := open(t, l)
			b.visit(s.page("jobs"))
			if l.script { // which axe-core needs, too
				if found := violations(t, b, source); len(found) > 0 {
					t.Errorf("the login: %v", found)
				}
			}
			b.logIn("no such key")
			if text := strings.Join(b.texts("[role=alert]"), ""); !strings.Contains(text, "opens nothing") {
				t.Errorf("a wrong key: %q", text)
			}
			b.took() // the browser may log that it was refused
			b.logIn(bob)
			if who := strings.Join(b.texts(".who"), ""); !strings.Contains(who, "bob") || b.texts("h1")[0] != "Jobs" {
				t.Errorf("bob sees %q of %q", b.texts("h1"), who)
			}
			if buttons := b.texts("a.button"); len(buttons) > 0 {
				t.Errorf("bob, who may only read, sees %q", buttons)
			}
			if cookie := eval[string](b, `document.cookie`); cookie != "" {
				t.Errorf("a script of the page could read %q", cookie)
			}
			b.pressTo("Log out")
			b.logIn(ann)
			if who := strings.Join(b.texts(".who"), ""); !strings.Contains(who, "ann") {
				t.Errorf("ann sees %q", who)
			}
			b.visit(s.page("jobs"))
			if buttons := b.texts("a.button"); len(buttons) == 0 {
				t.Error("ann, who may operate, sees no button")
			}
			for _, p := range b.took() {
				t.Error(p)
			}
			write("bob " + bob + " view\n")
			for b.visit(s.page("jobs")); b.texts("h1")[0] != "Log in"; b.visit(s.page("jobs")) { // within a second
				if b.ctx.Err() != nil {
					t.Fatal("a removed key still opens pages")
				}
			}
		})
	}
}

// logIn types a key into the form and sends it, by keyboard.
func (b *tab) logIn(key string) {
	b.t.Helper()
	eval[bool](b, `document.querySelector("[name=key]").focus(), true`)
	b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
	if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent("\r")); err != nil {
		b.t.Fatal(err)
	}
}
