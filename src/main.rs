//! The `transom` binary: flags to a command, a command to an exit code.
#![deny(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
