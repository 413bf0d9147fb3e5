module github.com/ebbflow/ebb/tools/release

go 1.26.0

require (
	// Saves: the header of an rpm
	// Weight: tools only, 5 modules
	// Refused: nfpm: 40 modules, some of which cannot be fetched; a deb takes 30 lines
	github.com/google/rpmpack v0.7.1
	// Saves: Mozilla's certificate authorities at a pinned version, for the image
	// Weight: tools only
	// Refused: those of the machine that builds: two machines would give two images
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
)

require (
	github.com/cavaliergopher/cpio v1.0.1 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/klauspost/pgzip v1.2.6 // indirect
	github.com/ulikunitz/xz v0.5.12 // indirect
)
