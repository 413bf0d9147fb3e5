package nodepath_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/nodepath"
)

// TestVisits names the nodes of states, and finds the states by the names.
func TestVisits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state string
		n     int
		want  string
	}{
		{"Pay", 0, "Pay"},
		{"Pay", 1, "Pay"},
		{"Pay", 2, "Pay#2"},
		{"Pay#2", 1, "Pay#2#1"},
		{"Pay#2", 3, "Pay#2#3"},
		{"Pay#", 1, "Pay#"},
		{"Pay#x", 2, "Pay#x#2"},
		{"a/b~c", 1, "a~1b~0c"},
		{"a/b", 2, "a~1b#2"},
		{"~1", 1, "~01"},
		{"#2", 1, "#2#1"},
	} {
		got := nodepath.Visit(nodepath.Escape(c.state), c.n)
		if got != c.want || nodepath.State(got) != c.state {
			t.Errorf("node %d of %q is %q, of the state %q; want %q", c.n, c.state, got, nodepath.State(got), c.want)
		}
	}
}

// TestChildren names the children of forks, and finds the forks by the names.
func TestChildren(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fork       string
		attempt, i int
		want       string
	}{{"Ship", 0, 0, "Ship[0]"}, {"Ship", 1, 3, "Ship[3]"}, {"a[1]/Ship#2", 2, 12, "a[1]/Ship#2@2[12]"}} {
		got := nodepath.Child(c.fork, c.attempt, c.i)
		fork, i, ok := nodepath.CutIndex(got)
		if got != c.want || i != c.i || !ok || c.attempt <= 1 && fork != c.fork {
			t.Errorf("%+v is %q, which is child %d of %q (%t)", c, got, i, fork, ok)
		}
	}
	for _, path := range []string{"", "Ship", "Ship[]", "Ship[x]", "Ship[-1]", "Ship[3]/Pack", "Ship[99999999999999999999]", "3]"} {
		if fork, i, ok := nodepath.CutIndex(path); ok {
			t.Errorf("%q is child %d of %q", path, i, fork)
		}
	}
	if got := nodepath.Last("Ship[3]/Pack#2"); got != "Pack#2" || nodepath.Last("Pack") != "Pack" {
		t.Errorf("the last part is %q", got)
	}
}

// TestInside: a node is inside of a fork if its path leads through a child of any attempt of that fork.
// TestCompare: an item comes after those with lower numbers, and what is inside of it after it.
func TestCompare(t *testing.T) {
	t.Parallel()
	paths := []string{"A", "A[2]", "A[2]/B", "A[2]/B[9]/C", "A[2]/B[10]/C", "A[10]", "A[10]/B", "AB[1]", "B"}
	for i := range paths {
		for j := range paths {
			if got := nodepath.Compare(paths[i], paths[j]); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("Compare(%q, %q) = %d", paths[i], paths[j], got)
			}
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"Ship[3]": true, "Ship@2[3]": true, "Ship[3]/Pay#2": true, "Ship@2[3]/Fork[0]/Pay": true,
		"Ship": false, "Ship#2[0]": false, "Shipping[0]": false, "Ship@home/Pay": false, "Ship@home[1]": false,
		"Ship[x]": false, "Other/Ship[3]": false, "Ship/Pay[3]": false,
	} {
		if got := nodepath.Inside(path, "Ship"); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := nodepath.Unnumbered("Ship[3]/Pay#2"); got != "Ship/Pay" {
		t.Errorf("without numbers: %s", got)
	}
}
