//! The two ends of the wire, out of reach of everything else in the process and of its children.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::io::AsFd;
use std::sync::Mutex;

static TAKEN: Mutex<Option<Pipes>> = Mutex::new(None);

pub struct Pipes {
    pub input: File,
    pub output: File,
}

/// The pipes. From here on whatever is printed goes to standard error, and standard input is empty.
pub fn take() -> io::Result<Pipes> {
    match TAKEN.lock().expect("nothing panics while it holds the pipes").take() {
        Some(pipes) => Ok(pipes),
        None => redirect(private_duplicates()?),
    }
}

/// Duplicates that are closed when another program is started.
fn private_duplicates() -> io::Result<Pipes> {
    Ok(Pipes {
        input: File::from(io::stdin().as_fd().try_clone_to_owned()?),
        output: File::from(io::stdout().as_fd().try_clone_to_owned()?),
    })
}

fn redirect(pipes: Pipes) -> io::Result<Pipes> {
    rustix::stdio::dup2_stdout(io::stderr())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(pipes)
}

/// Takes the pipes before `main` begins, so that `main` may print, where both ends are pipes: in a terminal, a test or an
/// editor they are not.
extern "C" fn before_main() {
    let is_pipe = |file: &File| file.metadata().map(|data| data.file_type().is_fifo() || data.file_type().is_socket());
    if let Ok(pipes) = private_duplicates() {
        if matches!((is_pipe(&pipes.input), is_pipe(&pipes.output)), (Ok(true), Ok(true))) {
            *TAKEN.lock().expect("nobody else is there yet") = redirect(pipes).ok();
        }
    }
}

#[cfg(target_os = "linux")]
#[used]
#[link_section = ".init_array"]
static BEFORE_MAIN: extern "C" fn() = before_main;
