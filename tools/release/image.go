package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"log"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	imageName = "ghcr.io/ebbflow/ebb"
	nonroot   = 65532
	oci       = "application/vnd.oci.image."
)

type object = map[string]any

// A blobs holds the parts of an image by their digests.
type blobs []file

// add adds a part and returns its descriptor.
func (b *blobs) add(kind string, body []byte) object {
	sum := fmt.Sprintf("%x", sha256.Sum256(body))
	f := text("blobs/sha256/"+sum, body)
	if !slices.ContainsFunc(*b, func(o file) bool { return o.name == f.name }) {
		*b = append(*b, f)
	}
	return object{"mediaType": oci + kind, "digest": "sha256:" + sum, "size": len(body)}
}

// addJSON adds a part made of JSON.
func (b *blobs) addJSON(kind string, value object) object { return b.add(kind, jsonOf(value)) }

// jsonOf returns a value as JSON, which has its keys in order.
func jsonOf(value any) []byte {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	return append(body, '\n')
}

// image writes an archive in the OCI layout with an image for each processor. It has the command, certificate
// authorities, and a folder for data. Time zones are in the command.
func (r *release) image() error {
	var authorities bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&authorities, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	base, err := tarOf("", withFolders([]file{
		text("etc/ssl/certs/ca-certificates.crt", authorities.Bytes()),
		text("etc/passwd", fmt.Appendf(nil, "ebb:x:%d:%[1]d:Ebb:/data:/sbin/nologin\n", nonroot)),
		text("etc/group", fmt.Appendf(nil, "ebb:x:%d:\n", nonroot)),
		{name: "data", mode: fs.ModeDir | 0o750, owner: nonroot},
		{name: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}), r.date)
	if err != nil {
		return err
	}
	all := blobs{}
	var manifests []object
	labels := map[string]string{
		"org.opencontainers.image.title": "Ebb", "org.opencontainers.image.description": summary,
		"org.opencontainers.image.source": repository, "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.revision": r.revision, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.created": r.date.Format(time.RFC3339),
	}
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		program, err := tarOf("", withFolders([]file{b.program("usr/bin/")}), r.date)
		if err != nil {
			return err
		}
		var layers []object
		var diffs []string
		for _, layer := range [][]byte{base, program} {
			compressed, err := gzipOf(layer)
			if err != nil {
				return err
			}
			layers = append(layers, all.add("layer.v1.tar+gzip", compressed))
			diffs = append(diffs, fmt.Sprintf("sha256:%x", sha256.Sum256(layer)))
		}
		config := all.addJSON("config.v1+json", object{
			"created": r.date.Format(time.RFC3339), "os": b.os, "architecture": b.arch,
			"rootfs": object{"type": "layers", "diff_ids": diffs},
			"config": object{
				"User": fmt.Sprintf("%d:%[1]d", nonroot), "WorkingDir": "/data",
				"Entrypoint": []string{"/usr/bin/ebb"}, "Cmd": []string{"emulate", "--listen", "0.0.0.0:8083"},
				"Env": []string{"PATH=/usr/bin", "EBB_LOG_LEVEL=info"}, "Labels": labels, "StopSignal": "SIGTERM",
				"Volumes": object{"/data": object{}}, "ExposedPorts": object{"8083/tcp": object{}},
			},
		})
		manifest := all.addJSON("manifest.v1+json", object{
			"schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config, "layers": layers,
		})
		manifest["platform"] = object{"os": b.os, "architecture": b.arch}
		manifests = append(manifests, manifest)
	}
	index := all.addJSON("index.v1+json", object{
		"schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": manifests, "annotations": labels,
	})
	index["annotations"] = object{
		"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": imageName + ":" + r.version,
	}
	top := object{"schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": []object{index}}
	body, err := tarOf("", append(withFolders(all),
		text("index.json", jsonOf(top)),
		text("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)),
	), r.date)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("ebb_%s_image.tar", r.version), body)
}
