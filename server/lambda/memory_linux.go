package lambda

import (
	"bytes"
	"os"
	"strconv"

	"github.com/ebbflow/ebb/internal/supervisor"
)

// residentMB returns the memory of a process and its descendants in MiB, without that of a supervisor. A process that
// has ended uses none.
func residentMB(pid int) (megabytes int, known bool) {
	pages, left := 0, maxTree
	addResident(pid, &pages, &left)
	return pages * os.Getpagesize() >> 20, true
}

// maxTree is how many processes of a tree are counted.
const maxTree = 10_000

func addResident(pid int, pages, left *int) {
	if *left--; *left < 0 {
		return
	}
	folder := "/proc/" + strconv.Itoa(pid) + "/"
	name, err := os.ReadFile(folder + "comm")
	if err != nil {
		return
	}
	if string(bytes.TrimSpace(name)) != supervisor.Marker {
		text, _ := os.ReadFile(folder + "statm") // it may have ended
		if fields := bytes.Fields(text); len(fields) > 1 {
			resident, _ := strconv.Atoi(string(fields[1])) // a number
			*pages += resident
		}
	}
	threads, _ := os.ReadDir(folder + "task")
	for _, thread := range threads {
		children, _ := os.ReadFile(folder + "task/" + thread.Name() + "/children")
		for child := range bytes.FieldsSeq(children) {
			if id, err := strconv.Atoi(string(child)); err == nil {
				addResident(id, pages, left)
			}
		}
	}
}
