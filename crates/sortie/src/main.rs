//! The command `sortie`, over the domains that come with it.

fn main() -> std::process::ExitCode {
    sortie::main(&[])
}
