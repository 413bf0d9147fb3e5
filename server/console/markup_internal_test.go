package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/tasktoken"
)

// TestPageBytes: a page of very many or large rows has some megabytes, says that rows are left out, and stays whole. A
// run shows some of its labels. Who may only read gets no tokens, whole or cut off.
//
// Attack (HTTP server): Rows of the console that are large, such as jobs with very many labels.
// Result: A page has 2 MiB. A job has 50 labels.
// Also: `storage/sqlstore: TestStore/Create`.
func TestPageBytes(t *testing.T) {
	t.Parallel()
	token, labels := tasktoken.New(), map[string]string{}
	for i := range 50 {
		labels[fmt.Sprint(i)] = strings.Repeat("x", mostWords-10) + token
	}
	many := make([]int, 5000)
	rows := each(many, func(*int) node { return el("tr", el("td", labelNodes(labels), code(token))) })
	var page strings.Builder
	fragment{el("table", rows), cutNote{}}.write(&writer{to: &page, hides: true})
	text := page.String()
	if len(text) > mostPage+mostLabels*mostWords || !strings.Contains(text, "</tr></table><p class=\"told\">This page is too large") ||
		!strings.Contains(text, " … +30") {
		t.Errorf("the page has %d bytes and ends with %s", len(text), text[len(text)-200:])
	}
	if strings.Contains(text, token[:9]) || !strings.Contains(text, "<code>TOKEN</code>") {
		t.Error("it shows a token")
	}
}
