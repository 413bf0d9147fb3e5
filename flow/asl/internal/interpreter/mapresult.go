package interpreter

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// The files to which results are written, by the outcome of the executions.
const (
	succeeded = iota
	failed
	pending
)

var files = [...]string{succeeded: "SUCCEEDED", failed: "FAILED", pending: "PENDING"}

// recallsPerAnswer is the number of children whose results one answer reads from the store.
const recallsPerAnswer = 1000

// finish ends a map run whose children have all ended, or begins the next answer
// towards that.
func (r *mapRun) finish() {
	if r.set.Target != nil {
		r.write()
		return
	}
	text := append([]byte{atom.CodecJSON}, r.Results...)
	if len(r.Results) == 0 {
		text = append(text, '[')
	} else {
		text = text[:len(text)-1] // continue the array
	}
	for to := min(r.Begun, r.Written+recallsPerAnswer); r.Written < to; r.Written++ {
		past, ok := r.recall(r.Written)
		if !ok || past.Result == nil && past.Failure == nil {
			continue
		}
		for _, value := range r.formed(past, r.Written) {
			if len(text) > 2 {
				text = append(text, ',')
			}
			if text = append(text, value...); len(text) > data.MaxPayload {
				r.end(stateerror.TooLarge(r.State.Name))
				return
			}
		}
	}
	text = append(text, ']')
	if r.Written < r.Begun {
		r.Results, r.growth.More = text[1:], data.Encode(true)
		return
	}
	r.Results = nil
	r.endWell(text)
}

// recall returns the result of a child.
func (r *mapRun) recall(index int) (grow.Past, bool) { return r.Ask.Recall(strconv.Itoa(index)) }

// formed returns a child's result in the form that the ResultWriter asks for: with a description of the execution, as
// it is, or with an array divided into its elements.
func (r *mapRun) formed(past grow.Past, index int) []json.RawMessage {
	form := r.set.Form.Transformation
	if form == "" && r.set.Target != nil {
		form = "NONE"
	}
	switch {
	case form != "NONE" && past.Result == nil && r.set.Target == nil:
		f := stateerror.OfTask(past.Failure, r.State.Name)
		text, _ := json.Marshal(tolerated{files[failed], f.Name, f.Cause}) // of texts
		return []json.RawMessage{text}
	case form == "NONE", past.Result == nil:
		return []json.RawMessage{r.told(past, index)}
	case form == "FLATTEN":
		var array []json.RawMessage
		if err := json.Unmarshal(past.Result.JSON(), &array); err == nil && array != nil {
			return array
		}
	}
	return []json.RawMessage{past.Result.JSON()}
}

// tolerated stands in the result for a child that failed.
//
//nolint:tagliatelle // AWS's names
type tolerated struct {
	Status string `json:"Status"`
	Error  string `json:"Error,omitempty"`
	Cause  string `json:"Cause,omitempty"`
}

// execution describes a child as AWS's result files do.
//
//nolint:tagliatelle // AWS's names
type execution struct {
	Cause               string    `json:"Cause,omitempty"`
	Error               string    `json:"Error,omitempty"`
	ExecutionArn        string    `json:"ExecutionArn"`
	Input               string    `json:"Input,omitempty"`
	InputDetails        *included `json:"InputDetails"`
	Name                string    `json:"Name"`
	Output              string    `json:"Output,omitempty"`
	OutputDetails       *included `json:"OutputDetails,omitempty"`
	RedriveCount        int       `json:"RedriveCount"`
	RedriveStatus       string    `json:"RedriveStatus"`
	RedriveStatusReason string    `json:"RedriveStatusReason,omitempty"`
	StartDate           string    `json:"StartDate,omitempty"`
	StateMachineArn     string    `json:"StateMachineArn"`
	Status              string    `json:"Status"`
	StopDate            string    `json:"StopDate,omitempty"`
}

type included struct {
	Included bool `json:"Included"` //nolint:tagliatelle // AWS's name
}

// maxRecorded bounds the input or output of an execution in a result file, in bytes.
const maxRecorded = 64 << 10

func (r *mapRun) told(past grow.Past, index int) json.RawMessage {
	e := execution{
		ExecutionArn: r.childARN(r.set, index), Name: r.childName(r.set, index),
		StateMachineArn: r.attributes().StateMachineID + r.label(), RedriveStatus: "NOT_REDRIVABLE",
		InputDetails: &included{len(past.Input) <= maxRecorded},
	}
	if e.InputDetails.Included {
		e.Input = past.Input.String()
	}
	if !past.Started.IsZero() {
		e.StartDate = contextTime(past.Started)
	}
	if !past.Ended.IsZero() {
		e.StopDate = contextTime(past.Ended)
	}
	switch e.Status = files[fileOf(past)]; e.Status {
	case files[succeeded]:
		e.OutputDetails = &included{len(past.Result) <= maxRecorded}
		if e.OutputDetails.Included {
			e.Output = past.Result.String()
		}
		e.RedriveStatusReason = "Execution is SUCCEEDED and cannot be redriven"
	case files[failed]:
		f := stateerror.OfTask(past.Failure, r.State.Name)
		e.Error, e.Cause = f.Name, f.Cause
	}
	text, _ := json.Marshal(e) // of texts and numbers
	return text
}

// fileOf returns which file a child belongs to.
func fileOf(past grow.Past) int {
	switch {
	case past.Result != nil:
		return succeeded
	case past.Failure != nil && past.Failure.Code != atom.CodeCancelled:
		return failed
	default:
		return pending
	}
}

// maxWritten is the number of bytes of results after which a write is complete.
const maxWritten = 128 << 10

// write writes the next results, then the manifest, then ends the map run.
func (r *mapRun) write() {
	if r.Closed {
		r.written()
		return
	}
	parts := make([]strings.Builder, len(files))
	sum := 0
	for to := min(r.Begun, r.Written+recallsPerAnswer); r.Written < to && sum < maxWritten; r.Written++ {
		past, ok := r.recall(r.Written)
		if !ok {
			continue
		}
		file := fileOf(past)
		for _, value := range r.formed(past, r.Written) {
			r.separate(&parts[file], r.Sizes[file])
			parts[file].Write(value) //nolint:gosec // it never fails
			sum += len(value)
		}
	}
	write := ObjectWrite{Bucket: r.set.Target.Bucket}
	last := r.Written == r.Begun
	for file := range parts {
		if last && (parts[file].Len() > 0 || r.Sizes[file] > 0) {
			parts[file].WriteString(r.ending()) //nolint:gosec // it never fails
		}
		if parts[file].Len() > 0 {
			write.Parts = append(write.Parts, ObjectPart{Key: r.file(file), Offset: r.Sizes[file], Text: parts[file].String()})
			r.Sizes[file] += int64(parts[file].Len())
		}
	}
	if last {
		write.Parts = append(write.Parts, ObjectPart{Key: r.folder() + "manifest.json", Text: r.manifest()})
		r.Closed = true
	}
	if len(write.Parts) == 0 {
		r.growth.More = data.Encode(true)
		return
	}
	r.Writes++
	r.growth.Add = append(r.growth.Add, grow.Spec{
		Name: writeNode + "#" + strconv.Itoa(r.Writes), Kind: grow.Work, Task: WriteObjects, Input: atom.MustEncode(write),
	})
}

// separate writes what precedes a value in a file.
func (r *mapRun) separate(b *strings.Builder, before int64) {
	switch {
	case r.set.Form.Lines && before+int64(b.Len()) > 0:
		b.WriteByte('\n')
	case r.set.Form.Lines:
	case before+int64(b.Len()) > 0:
		b.WriteByte(',')
	default:
		b.WriteByte('[')
	}
}

func (r *mapRun) ending() string {
	if r.set.Form.Lines {
		return "\n"
	}
	return "]"
}

// folder returns the path of the folder of the files, with a slash at the end.
func (r *mapRun) folder() string {
	if prefix := r.set.Target.Prefix; prefix != "" {
		return prefix + "/" + r.set.ID + "/"
	}
	return r.set.ID + "/"
}

func (r *mapRun) file(file int) string {
	if r.set.Form.Lines {
		return r.folder() + files[file] + "_0.jsonl"
	}
	return r.folder() + files[file] + "_0.json"
}

// manifest returns the text of the manifest, which lists the files.
func (r *mapRun) manifest() string {
	lists := &jsontext.OrderedMap{}
	for file, name := range files {
		list := []any{}
		if r.Sizes[file] > 0 {
			list = append(list, jsontext.OrderedMapOf("Key", r.file(file), "Size", data.Number(r.Sizes[file])))
		}
		lists.Set(name, list)
	}
	return data.Encode(jsontext.OrderedMapOf(
		"DestinationBucket", r.set.Target.Bucket, "MapRunArn", r.set.ARN, "ResultFiles", lists,
	)).String()
}

// written ends a map run whose results are written.
func (r *mapRun) written() {
	if r.Error != "" {
		r.end(&stateerror.Error{Name: r.Error, Cause: r.Cause})
		return
	}
	r.endWell(data.Encode(jsontext.OrderedMapOf(
		"MapRunArn", r.set.ARN,
		"ResultWriterDetails", jsontext.OrderedMapOf("Bucket", r.set.Target.Bucket, "Key", r.folder()+"manifest.json"),
	)))
}
