package referee

import (
	"fmt"
	"os"
	"sync"
)

// takePipes gives the two ends of the wire. WebAssembly cannot duplicate a descriptor: standard output is moved away, and
// the referee then takes descriptor 1 for standard error. The first call takes them.
var takePipes = sync.OnceValues(redirect)

const wire = 11 // the new descriptor of standard output

// Before main already, so that main may print.
func init() { takePipes() }

//go:wasmimport wasi_snapshot_preview1 fd_renumber
func fdRenumber(from, to uint32) uint32

func redirect() (in, out *os.File) {
	if errno := fdRenumber(1, wire); errno != 0 {
		panic(fmt.Sprintf("fd_renumber: error %d", errno))
	}
	return os.Stdin, os.NewFile(wire, "referee")
}
