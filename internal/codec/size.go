package codec

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// SizeOfRun returns how many bytes of a page a run takes, see [storage.PageBytes].
func SizeOfRun(r *storage.Run) int {
	return len(r.Input.Data) + len(r.Output.Data) + len(r.Attrs) + len(r.Memory) + sizeOfFailure(r.Failure) +
		sizeOfLabels(r.Labels)
}

// SizeOfJob returns how many bytes of a page a job takes.
func SizeOfJob(j *storage.Job) int {
	return len(j.Input) + sizeOfFailure(j.Failure) + sizeOfLabels(j.Labels) + sizeOfLabels(j.RunLabels)
}

// SizeOfSchedule returns how many bytes of a page a schedule takes.
func SizeOfSchedule(s *backend.Schedule) int {
	return len(s.Input) + sizeOfLabels(s.Needs) + sizeOfLabels(s.Labels)
}

// SizeOfEntry returns how many bytes of a page a line of a history takes.
func SizeOfEntry(e *storage.Entry) int {
	return len(e.Details) + len(e.Body.Data) + len(e.Path) + sizeOfFailure(e.Failure)
}

func sizeOfFailure(f *atom.Failure) int {
	if f == nil {
		return 0
	}
	return len(f.Atom) + len(f.Message) + len(f.Stack) + len(f.Details)
}

func sizeOfLabels(labels map[string]string) (bytes int) {
	for key, value := range labels {
		bytes += len(key) + len(value)
	}
	return bytes
}
