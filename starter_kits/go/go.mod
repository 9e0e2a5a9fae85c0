module github.com/OWNER/referee/starter_kits/go

go 1.23

require (
	github.com/tinylib/msgp v1.5.0
	golang.org/x/sys v0.30.0
)

require github.com/philhofer/fwd v1.2.0 // indirect
