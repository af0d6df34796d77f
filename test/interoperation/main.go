// Verifies a log with golang.org/x/mod/sumdb, which verifies the log of Go's checksum database: the signature of its head, all
// of its tiles, the place of each entry, and that it continues smaller trees. On Debian:
//
//	apt-get install golang-go golang-golang-x-mod-dev
//	URL=http://127.0.0.1:8080/log
//	GO111MODULE=off GOPATH=/usr/share/gocode go run test/interoperation/main.go $URL "$(curl -s $URL/key)"
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

type reader struct{ url string }

func (r reader) Height() int                     { return height }
func (r reader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r reader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		// Go's path is tile/<height>/<level>/<number>; that of C2SP leaves out the height.
		data, err := get(r.url + "/tile/" + strings.TrimPrefix(tile.Path(), "tile/8/"))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func get(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != 200 {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return data, err
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: verify-log <url of the log> <key of the log>")
	}
	url, vkey := os.Args[1], os.Args[2]
	signed, err := get(url + "/checkpoint")
	must(err)
	verifier, err := note.NewVerifier(vkey)
	must(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	var root tlog.Hash
	decoded, err := base64.StdEncoding.DecodeString(lines[2])
	must(err)
	copy(root[:], decoded)

	tree := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, reader{url})
	for index := int64(0); index < size; {
		width := size - index
		path := tlog.Tile{H: height, L: 0, N: index >> height, W: 1 << height}
		if width < 1<<height {
			path.W = int(width)
		}
		bundle, err := get(url + "/tile/entries" + strings.TrimPrefix(path.Path(), "tile/8/0"))
		must(err)
		for ; len(bundle) > 0; index++ {
			length := int(binary.BigEndian.Uint16(bundle))
			leaf := tlog.RecordHash(bundle[2 : 2+length])
			bundle = bundle[2+length:]
			proof, err := tlog.ProveRecord(size, index, tree)
			must(err)
			must(tlog.CheckRecord(proof, size, root, index, leaf))
		}
	}
	for smaller := int64(1); smaller < size; smaller += 1 + smaller/7 {
		before, err := tlog.TreeHash(smaller, tree)
		must(err)
		proof, err := tlog.ProveTree(size, smaller, tree)
		must(err)
		must(tlog.CheckTree(proof, size, root, smaller, before))
	}
	fmt.Printf("ok: %s has %d entries, each of them proved\n", lines[0], size)
}
