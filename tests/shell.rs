//! `transom sql` with statements from a pipe, and at a terminal.
#![cfg(feature = "sql")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const TABLE: &str = "CREATE TABLE bids (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)\n\
    WITH ('connector' = 'filesystem', 'path' = 'bids.csv', 'format' = 'csv');\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:02,b,2\n2024-05-01 12:00:11,c,3\n";
    std::fs::write(folder.path().join("bids.csv"), rows).expect("a writable folder");
    folder
}

/// Runs the shell with statements on stdin.
fn piped(folder: &Path, args: &[&str], statements: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .current_dir(folder)
        .arg("sql")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // The shell may have left before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(statements.as_bytes());
    child.wait_with_output().expect("the binary ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without the times, which differ.
fn timeless(text: &str) -> String {
    let line = |line: &str| line.split(" (0.").next().unwrap_or_default().to_string() + "\n";
    text.lines().map(line).collect()
}

#[test]
fn rows_are_shown_as_flinks_client_shows_them() {
    let statements = format!(
        "{TABLE}SELECT NULLIF(k, 'c') AS k, v FROM bids;\nSELECT k FROM bids WHERE v > 5;\nSHOW TABLES;\nSHOW VIEWS;"
    );
    let output = piped(folder().path(), &["--quiet"], &statements);
    assert_eq!(
        timeless(&text(&output.stdout)),
        "+----+--------------------------------+-------------+\n\
         | op |                              k |           v |\n\
         +----+--------------------------------+-------------+\n\
         | +I |                              a |           1 |\n\
         | +I |                              b |           2 |\n\
         | +I |                         <NULL> |           3 |\n\
         +----+--------------------------------+-------------+\n\
         Received a total of 3 rows\n\
         Empty set\n\
         +------------+\n\
         | table name |\n\
         +------------+\n\
         |       bids |\n\
         +------------+\n\
         1 row in set\n\
         Empty set\n",
        "{}",
        text(&output.stderr)
    );
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

/// The table is what Flink 2.3.0 printed.
#[test]
fn values_of_all_kinds_look_as_in_flink() {
    let row = r#"{"d":1.5,"b":true,"n":3.14,"a":[1,2,null],"r":{"x":1,"y":"q"},"m":{"a":1},"y":"aGVsbG8="}"#;
    let row = format!("{row}\n{{\"r\":{{\"x\":null,\"y\":null}}}}\n");
    let folder = folder();
    std::fs::write(folder.path().join("all.json"), row).expect("a writable folder");
    let statements = "CREATE TABLE t (d DOUBLE, b BOOLEAN, n DECIMAL(4, 2), a ARRAY<INT>, r ROW<x INT, y STRING>, \
        m MAP<STRING, INT>, y BYTES) WITH ('connector' = 'filesystem', 'path' = 'all.json', 'format' = 'json');\n\
        SET 'table.display.max-column-width' = '15';\nSELECT * FROM t;";
    let output = piped(folder.path(), &["-q"], statements);
    assert_eq!(
        timeless(&text(&output.stdout)),
        "+----+-----------------+--------+--------+-----------------+-----------------+-----------------+-----------------+\n\
         | op |               d |      b |      n |               a |               r |               m |               y |\n\
         +----+-----------------+--------+--------+-----------------+-----------------+-----------------+-----------------+\n\
         | +I |             1.5 |   TRUE |   3.14 |    [1, 2, NULL] |          (1, q) |           {a=1} |   x'68656c6c6f' |\n\
         | +I |          <NULL> | <NULL> | <NULL> |          <NULL> |    (NULL, NULL) |          <NULL> |          <NULL> |\n\
         +----+-----------------+--------+--------+-----------------+-----------------+-----------------+-----------------+\n\
         Received a total of 2 rows\n",
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn the_first_failing_statement_ends_a_script() {
    let folder = folder();
    let script = format!("{TABLE}SHOW TABLES;\nSELECT nope\n  FROM bids;\nSHOW TABLES;\n");
    std::fs::write(folder.path().join("job.sql"), &script).expect("a writable folder");
    for (output, file) in [
        (piped(folder.path(), &[], &script), "<stdin>"),
        (piped(folder.path(), &["-f", "-"], &script), "<stdin>"),
        (piped(folder.path(), &["-f", "job.sql"], ""), "job.sql"),
    ] {
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(text(&output.stdout).matches("1 row in set").count(), 1);
        for part in [format!("[{file}:4:8]").as_str(), " 4 | SELECT nope", "in statement 3", "help:"] {
            assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
        }
    }
}

#[test]
fn the_init_file_comes_first_and_quit_ends_what_follows() {
    let folder = folder();
    std::fs::write(folder.path().join("init.sql"), TABLE.replace("bids.csv", "${FILE}")).expect("a writable folder");
    let args = ["-q", "-i", "init.sql", "--set", "FILE=bids.csv", "-D", "table.local-time-zone=Asia/Tokyo"];
    let output = piped(folder.path(), &args, "SELECT v FROM bids; SET;\nQUIT;\nSELECT nope FROM bids;");
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(stdout.contains("Received a total of 3 rows") && stdout.contains("Asia/Tokyo"), "{stdout}");
    let output = piped(folder.path(), &["-i", "init.sql"], "SHOW TABLES;");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("${FILE}") && output.stdout.is_empty());
}

#[test]
fn an_insert_writes_its_files() {
    let folder = folder();
    let statements = format!(
        "{TABLE}CREATE TABLE copy (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'copy.csv', \
         'format' = 'csv');\nINSERT INTO copy SELECT k, v FROM bids;\nSELECT v FROM copy;\nINSERT INTO copy SELECT k, v FROM bids;"
    );
    let output = piped(folder.path(), &[], &statements);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("[INFO] Wrote 3 rows"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("Received a total of 3 rows"));
}

#[test]
fn the_result_mode_has_its_values_and_its_old_name() {
    let folder = folder();
    let output = piped(folder.path(), &[], "SET 'execution.result-mode' = 'table';");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("'sql-client.execution.result-mode' since Flink 1.13"), "{stderr}");
    assert!(stderr.contains("the mode 'table' needs a screen of its own"), "{stderr}");
    assert_eq!(output.status.code(), Some(0));
    let output = piped(folder.path(), &[], "SET 'sql-client.execution.result-mode' = 'paged';");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("tableau, changelog or table"));
    for mode in ["changelog", "tableau"] {
        let set = format!("SET 'sql-client.execution.result-mode' = '{mode}';\n{TABLE}SELECT v FROM bids;");
        let output = piped(folder.path(), &[], &set);
        assert!(text(&output.stdout).contains("| op |           v |") && !text(&output.stderr).contains("note:"));
    }
}

#[test]
fn stdin_is_the_statements_and_no_table() {
    let table = TABLE.replace("bids.csv", "-");
    let output = piped(folder().path(), &[], &format!("{table}SELECT v FROM bids;"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("stdin can be read once"), "{}", text(&output.stderr));
}

/// A shell at a terminal, which the program `script` provides.
struct Terminal {
    child: Child,
    shown: Arc<Mutex<String>>,
    /// What of it has been looked at.
    seen: usize,
    folder: TempDir,
}

impl Terminal {
    /// `None`, with a word about it, where there is no `script`.
    fn start(term: &str) -> Option<Terminal> {
        Terminal::start_with(term, folder(), "")
    }

    fn start_with(term: &str, folder: TempDir, args: &str) -> Option<Terminal> {
        // A shell that stays in between would be ended by the Ctrl-C that is meant for the program.
        let command = format!("exec '{}' sql {args}", env!("CARGO_BIN_EXE_transom"));
        let spawned = Command::new("script")
            .args(["-qfec", &command, "/dev/null"])
            .current_dir(folder.path())
            .env("SHELL", "/bin/sh")
            .env("TERM", term)
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = spawned else {
            let why = "there is no program 'script' (of util-linux) to give the shell a terminal";
            assert!(std::env::var_os("TRANSOM_PEERS_REQUIRED").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        };
        let mut output = child.stdout.take().expect("a pipe");
        let shown = Arc::new(Mutex::new(String::new()));
        let filled = shown.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                filled.lock().expect("a lock").push_str(&String::from_utf8_lossy(&bytes[..length]));
            }
        });
        Some(Terminal { child, shown, seen: 0, folder })
    }

    fn send(&mut self, keys: &str) {
        self.child.stdin.as_mut().expect("a pipe").write_all(keys.as_bytes()).expect("an open pipe");
    }

    /// Waits until the terminal shows the text, behind what it was waited for before.
    fn wait(&mut self, what: &str) {
        let begun = Instant::now();
        loop {
            let shown = self.shown.lock().expect("a lock").clone();
            if let Some(at) = shown[self.seen..].find(what) {
                self.seen += at + what.len();
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no {what:?} behind byte {} of:\n{shown}", self.seen);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn leave(mut self) -> TempDir {
        self.send("QUIT;\r");
        assert_eq!(self.code(), Some(0));
        self.folder
    }

    /// Waits for the end; the exit code.
    fn code(&mut self) -> Option<i32> {
        self.child.wait().expect("the shell ends").code()
    }
}

const ENDLESS: &str = "CREATE TABLE g (k STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '50');\r";

/// Types statements, cancels an endless one, and goes on.
fn cancels_and_lives_on(mut terminal: Terminal) -> TempDir {
    terminal.wait("Transom SQL> ");
    terminal.send(ENDLESS);
    terminal.wait("[INFO] Execute statement succeeded.");
    terminal.wait("Transom SQL> ");
    terminal.send("SELECT k\r");
    terminal.send("FROM g;\r");
    terminal.wait("| +I |");
    terminal.send("\x03");
    terminal.wait("Query terminated, received a total of");
    terminal.wait("Transom SQL> ");
    terminal.send("SELECT half a statement\x03");
    terminal.wait("Transom SQL> ");
    terminal.send("SHOW TABLES;\r");
    terminal.wait("1 row in set");
    terminal.wait("Transom SQL> ");
    terminal.send("SELECT nope FROM g;\r");
    terminal.wait("column 'nope' not found");
    terminal.wait("Transom SQL> ");
    terminal.leave()
}

#[test]
fn ctrl_c_ends_the_query_and_not_the_shell() {
    let Some(terminal) = Terminal::start("xterm") else { return };
    let folder = cancels_and_lives_on(terminal);
    let history = std::fs::read_to_string(folder.path().join("state/transom/history")).expect("a history");
    assert!(history.contains("SELECT k\\nFROM g;\n") && !history.contains("half a statement"), "{history}");
}

#[test]
fn a_dumb_terminal_does_too() {
    let Some(terminal) = Terminal::start("dumb") else { return };
    let folder = cancels_and_lives_on(terminal);
    assert!(!folder.path().join("state").exists());
}

#[test]
fn tab_completes_the_columns_of_a_table() {
    let Some(mut terminal) = Terminal::start("xterm") else { return };
    terminal.wait("Transom SQL> ");
    terminal.send("CREATE TABLE trips (passengers INT) WITH ('connector' = 'datagen', 'number-of-rows' = '2');\r");
    terminal.wait("[INFO] Execute statement succeeded.");
    terminal.wait("Transom SQL> ");
    terminal.send("SELECT trips.pa\t FROM tri\t;\r");
    terminal.wait("|  passengers |");
    terminal.wait("Received a total of 2 rows");
    terminal.wait("Transom SQL> ");
    terminal.leave();
}

#[test]
fn ctrl_c_ends_a_file_of_statements() {
    let folder = folder();
    let script = format!("{ENDLESS}SELECT k FROM g;\nSELECT 'not run' FROM g;");
    std::fs::write(folder.path().join("job.sql"), script).expect("a writable folder");
    let Some(mut terminal) = Terminal::start_with("xterm", folder, "-f job.sql") else { return };
    terminal.wait("| +I |");
    terminal.send("\x03");
    assert_eq!(terminal.code(), Some(130));
    assert!(!terminal.shown.lock().expect("a lock").contains("not run"));
}

#[test]
fn statements_from_a_pipe_run_when_they_are_complete() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .args(["sql", "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"SHOW\nTABLES;\nSHOW").expect("an open pipe");
    let mut answer = [0; 10];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"Empty set\n");
    stdin.write_all(b" VIEWS").expect("an open pipe");
    drop(stdin);
    assert_eq!(text(&child.wait_with_output().expect("the binary ends").stdout), "Empty set\n");
}
