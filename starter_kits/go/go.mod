module referee.internal/referee

go 1.24.0

require (
	github.com/tinylib/msgp v1.6.5
	golang.org/x/sys v0.36.0
)

require github.com/philhofer/fwd v1.2.0 // indirect
