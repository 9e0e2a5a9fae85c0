//! The two ends of the wire, out of reach of everything else in the process and of its children.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::io::AsFd;
use std::sync::Mutex;

/// In the environment of a bot that the referee has started.
const STARTED: &str = "REFEREE_BOT";

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

/// What was printed before and not written yet goes to standard error too.
fn redirect(pipes: Pipes) -> io::Result<Pipes> {
    rustix::stdio::dup2_stdout(io::stderr())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    io::stdout().flush()?;
    Ok(pipes)
}

/// Takes the pipes before `main` begins, so that `main` may print, where the referee has started the program.
extern "C" fn before_main() {
    if env::var_os(STARTED).is_some() {
        env::remove_var(STARTED); // not for programs that the bot starts
        *TAKEN.lock().expect("nobody else is there yet") = private_duplicates().and_then(redirect).ok();
    }
}

#[cfg(target_os = "linux")]
#[used]
#[link_section = ".init_array"]
static BEFORE_MAIN: extern "C" fn() = before_main;
