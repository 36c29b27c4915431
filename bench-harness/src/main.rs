fn main() -> std::process::ExitCode {
    bench_harness::cli::main()
}
