//! The two ends of the wire, out of reach of everything else in the process and of its children.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::io::AsFd;

pub struct Pipes {
    pub input: File,
    pub output: File,
}

/// Takes standard input and output. From here on, prints go to standard error, and standard input is empty.
///
/// The duplicates are closed when another program is started. A print that is still in the buffer goes to standard
/// error too.
pub fn take() -> io::Result<Pipes> {
    env::remove_var("REFEREE_BOT"); // not for programs that the bot starts
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    io::stdout().flush()?;
    Ok(Pipes { input, output })
}
