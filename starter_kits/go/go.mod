module referee.internal/referee

go 1.24.0

require (
	github.com/go-faster/jx v1.2.0
	github.com/tinylib/msgp v1.6.5
	golang.org/x/sys v0.36.0
)

require (
	github.com/go-faster/errors v0.7.1 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
)
