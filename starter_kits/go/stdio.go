//go:build unix

package referee

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// takePipes gives the two ends of the wire, out of reach of everything else in the process and of its children. The first
// call takes them.
var takePipes = sync.OnceValues(redirect)

// Before main already where the referee has started the program, so that main may print.
func init() {
	if _, started := os.LookupEnv("REFEREE_BOT"); started {
		must(os.Unsetenv("REFEREE_BOT")) // not for programs that the bot starts
		takePipes()
	}
}

func redirect() (in, out *os.File) {
	in, out = keep(0), keep(1)
	nothing, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(err)
	must(unix.Dup2(nothing, 0))
	must(unix.Close(nothing))
	must(unix.Dup2(2, 1))
	signal.Ignore(unix.SIGPIPE) // a referee that went away is an end, not a crash
	return in, out
}

func keep(fd uintptr) *os.File {
	kept, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
	must(err)
	return os.NewFile(uintptr(kept), "referee")
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
