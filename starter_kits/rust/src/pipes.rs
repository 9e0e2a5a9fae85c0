//! The two ends of the wire, out of reach of everything else in the process and of its children.

use std::fs::File;
use std::io;

pub struct Pipes {
    pub input: File,
    pub output: File,
}

/// Takes standard input and output. From here on, prints go to standard error, and standard input is empty.
///
/// The duplicates are closed when another program is started. A print that is still in the buffer goes to standard
/// error too.
#[cfg(unix)]
pub fn take() -> io::Result<Pipes> {
    use std::io::Write;
    use std::os::unix::io::AsFd;

    std::env::remove_var("REFEREE_BOT"); // not for programs that the bot starts
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    io::stdout().flush()?;
    Ok(Pipes { input, output })
}

/// Takes standard input and output. From here on, prints go to standard error.
///
/// WebAssembly cannot duplicate a descriptor: standard output is moved away, and the referee then takes descriptor 1 for
/// standard error.
#[cfg(target_os = "wasi")]
pub fn take() -> io::Result<Pipes> {
    use std::os::fd::FromRawFd;

    const WIRE: i32 = 11; // the new descriptor of standard output

    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        fn fd_renumber(from: i32, to: i32) -> i32;
    }
    // The descriptors are open from the start, and nothing else in the kit owns them.
    unsafe {
        match fd_renumber(1, WIRE) {
            0 => Ok(Pipes { input: File::from_raw_fd(0), output: File::from_raw_fd(WIRE) }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
