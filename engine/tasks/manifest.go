package tasks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
)

// A manifest is the chain of the files that a manifest names. The place of a file is its number.
type manifest struct {
	files  []place
	config asl.ReaderConfig
	last   int
}

func (m *manifest) open(at string) (place, *asl.ReaderConfig, error) {
	offset, err := offsetOf(at)
	if err != nil {
		return place{}, nil, err
	}
	if m.last = int(offset); m.last >= len(m.files) {
		return place{}, nil, io.EOF
	}
	return m.files[m.last], &m.config, nil
}

func (m *manifest) behind() string { return strconv.Itoa(m.last + 1) }

// maxManifest is the maximum size of a manifest.
const maxManifest = 16 * atom.MaxValue

// openManifest opens the files that a manifest names: that of an S3 inventory, or a
// list of URIs as Athena writes it.
func (t items) openManifest(p *place, config *asl.ReaderConfig, from string) (source, error) {
	text, _, err := t.openText(p, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }() // it was only read
	m := &manifest{config: *config}
	text.left = maxManifest
	if config.ManifestType == "ATHENA_DATA" {
		err = m.readURIs(text)
	} else {
		err = m.readInventory(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.uri(), err)
	}
	return t.openAll(m, from)
}

// readInventory reads the manifest.json of an S3 inventory.
func (m *manifest) readInventory(text io.Reader) error {
	var inventory struct {
		Destination string `json:"destinationBucket"`
		Format      string `json:"fileFormat"`
		Schema      string `json:"fileSchema"`
		Files       []struct {
			Key string `json:"key"`
		} `json:"files"`
	}
	if err := json.NewDecoder(text).Decode(&inventory); err != nil {
		return err
	}
	if inventory.Format != "CSV" {
		return fmt.Errorf("an inventory in the format %q cannot be read here, only CSV", inventory.Format)
	}
	bucket := strings.TrimPrefix(inventory.Destination, "arn:aws:s3:::")
	for _, file := range inventory.Files {
		m.files = append(m.files, place{Bucket: bucket, Key: file.Key})
	}
	m.config = asl.ReaderConfig{InputType: "CSV", CSVHeaderLocation: "GIVEN"}
	for name := range strings.SplitSeq(inventory.Schema, ",") {
		m.config.CSVHeaders = append(m.config.CSVHeaders, strings.TrimSpace(name))
	}
	return nil
}

// readURIs reads a line s3://bucket/key for each file.
func (m *manifest) readURIs(text io.Reader) error {
	m.config.ManifestType = ""
	for lines := bufio.NewScanner(text); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		line := strings.Trim(strings.TrimSpace(lines.Text()), `"`)
		if line == "" {
			continue
		}
		rest, ok := strings.CutPrefix(line, "s3://")
		bucket, key, found := strings.Cut(rest, "/")
		if !ok || !found {
			return fmt.Errorf("%.100q names no object (such as s3://bucket/key)", line)
		}
		m.files = append(m.files, place{Bucket: bucket, Key: key})
	}
}
