//! A private MariaDB server for tests.

#![allow(dead_code, reason = "each kind of test uses a part of it")]

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::machine::{NOBODY, free_port, is_root, next_server};
use dyno_gen::Workload;
use dyno_gen::schema::{ColumnType, TableSchema};
use serde_json::{Value, json};

/// Where distributions install the server's programs, which are not in PATH.
const PLACES: [&str; 5] =
    ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/libexec"];

/// A server with its data in a temporary directory. Stopped and removed when dropped.
pub struct Server {
    pub dir: PathBuf,
    pub port: u16,
    options: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Starts a server; None (and a printed reason) without MariaDB.
    pub fn start(options: &[&str]) -> Option<Self> {
        let install = program("mariadb-install-db")?;
        let number = next_server();
        let dir =
            std::env::temp_dir().join(format!("dyno-drive-my-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        if is_root() {
            chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut server = Self { dir, port: free_port(number), options, child: None };
        let made = server
            .command(&install)
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", server.data().display()))
            // Parallel servers would take each other's temporary tables for their own.
            .arg(format!("--tmpdir={}", server.dir.display()))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "mariadb-install-db: {told}");
        server.launch();
        Some(server)
    }

    /// Starts the server, with the data of a previous one if any, and waits until it responds.
    pub fn launch(&mut self) {
        let log =
            std::fs::File::options().create(true).append(true).open(self.dir.join("log")).unwrap();
        let mut child = self
            .command(&program("mariadbd").unwrap())
            .arg("--no-defaults")
            .arg(format!("--datadir={}", self.data().display()))
            .arg(format!("--tmpdir={}", self.dir.display()))
            .arg(format!("--socket={}", self.socket().display()))
            .arg(format!("--pid-file={}", self.dir.join("pid").display()))
            .arg(format!("--port={}", self.port))
            .args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--local-infile=1"])
            .args(["--innodb-buffer-pool-size=256M", "--innodb-log-file-size=64M"])
            .args(["--innodb-flush-log-at-trx-commit=0", "--skip-log-bin"])
            .args(["--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin"])
            .args(&self.options)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(300);
        while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
            if self.try_sql("mysql", "select 1").is_ok() {
                self.child = Some(child);
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
        panic!("no server: {}", std::fs::read_to_string(self.dir.join("log")).unwrap());
    }

    /// Kills the server, like a crash or an operator.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Runs SQL as root; returns the bare output.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.try_sql(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Like [`sql`](Self::sql), or returns the error message.
    pub fn try_sql(&self, database: &str, sql: &str) -> Result<String, String> {
        let output = self
            .command(&program("mariadb").unwrap())
            .args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"])
            .arg(format!("--socket={}", self.socket().display()))
            .args(["--execute", sql, database])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// A wire to this server over its unix socket.
    pub fn wire(&self, database: &str) -> Value {
        json!({
            "kind": "mysql", "host": "localhost", "port": self.port, "unix_socket": self.socket(),
            "user": "root", "database": database
        })
    }

    /// Creates a database with a workload's empty tables and primary keys.
    pub fn create(&self, workload: Workload) {
        let name = workload.as_str();
        self.sql("mysql", &format!("create database {name}"));
        let tables: Vec<String> = workload.tables().iter().map(definition).collect();
        self.sql(name, &tables.join(";\n"));
    }

    /// The path of its unix socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("s")
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", &self.dir).current_dir(&self.dir);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its data is removed, so it need not shut down cleanly.
        self.kill();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// `create table` for a table of the generator, with MariaDB's types.
fn definition(table: &TableSchema) -> String {
    let mut lines: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let kind = match column.kind {
                ColumnType::Int32 => "int".to_owned(),
                ColumnType::Int64 => "bigint".to_owned(),
                ColumnType::Decimal { precision, scale } => {
                    format!("decimal({precision}, {scale})")
                }
                ColumnType::Date => "date".to_owned(),
                ColumnType::Timestamp => "datetime(6)".to_owned(),
                ColumnType::Char { len } => format!("char({len})"),
                ColumnType::Varchar { max } => format!("varchar({max})"),
            };
            format!("{} {kind}{}", column.name, if column.nullable { " null" } else { " not null" })
        })
        .collect();
    if !table.primary_key.is_empty() {
        lines.push(format!("primary key ({})", table.primary_key.join(", ")));
    }
    format!("create table {} ({}) engine = innodb", table.name, lines.join(", "))
}

/// One of MariaDB's programs.
fn program(name: &str) -> Option<PathBuf> {
    let found = PLACES.iter().map(|place| Path::new(place).join(name)).find(|file| file.exists());
    if found.is_none() {
        let required = std::env::var_os("DYNO_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "no {name}, and DYNO_REQUIRE_ALL=1");
        println!("skipped: no {name}; install mariadb-server");
    }
    found
}
