//! Files of each format are complete or absent, and never overwrite others unless asked to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dyno_gen::{FileFormat, GeneratePlan, Workload, generate};
use dyno_record::{Control, ErrorKind};

const FORMATS: [FileFormat; 4] =
    [FileFormat::Tbl, FileFormat::Csv, FileFormat::Parquet, FileFormat::Arrow];

/// A separate folder for a test, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dyno-gen-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn plan(dir: &Path) -> GeneratePlan {
    GeneratePlan {
        workload: Workload::Tpch,
        scale: 0.05,
        days: None,
        seed: 1,
        format: FileFormat::Tbl,
        dir: dir.to_owned(),
        parts: 1,
        part: None,
        threads: 3,
        tables: Some(vec!["lineitem".to_owned(), "nation".to_owned()]),
        replace: false,
    }
}

#[test]
fn parts_are_the_whole_whatever_the_threads() {
    let folder = Folder::new("parts");
    let whole = generate(GeneratePlan { threads: 1, ..plan(&folder.0) }, &Control::new()).unwrap();
    let control = Control::new();
    let parts = generate(GeneratePlan { parts: 3, ..plan(&folder.0) }, &control).unwrap();
    assert_eq!(parts.tables[0].files, ["lineitem.1.tbl", "lineitem.2.tbl", "lineitem.3.tbl"]);
    assert_eq!(control.progress().done, control.progress().total);
    for (whole, parts) in whole.tables.iter().zip(&parts.tables) {
        let read = |name: &String| fs::read(folder.0.join(name)).unwrap();
        let one = read(&whole.files[0]);
        assert!(parts.files.iter().flat_map(read).eq(one.iter().copied()), "{}", whole.table);
        assert_eq!((whole.rows, whole.bytes), (parts.rows, parts.bytes));
        assert_eq!(whole.bytes, one.len() as u64);
        assert_eq!(whole.rows as usize, one.split(|byte| *byte == b'\n').count() - 1);
    }
    // One part alone is that part.
    let second = fs::read(folder.0.join("lineitem.2.tbl")).unwrap();
    let again = GeneratePlan { parts: 3, part: Some(2), replace: true, ..plan(&folder.0) };
    generate(again, &Control::new()).unwrap();
    assert!(fs::read(folder.0.join("lineitem.2.tbl")).unwrap() == second);
}

#[test]
fn formats_go_by_the_names_of_their_files() {
    for (format, name) in FORMATS.into_iter().zip(FileFormat::NAMES) {
        assert_eq!(format.as_str(), name);
        assert_eq!(serde_json::to_value(format).unwrap(), name);
    }
}

#[test]
fn bytes_do_not_depend_on_the_threads() {
    for format in FORMATS {
        // Three row groups of lineitem.
        for (workload, scale) in [
            (Workload::Tpch, 0.05),
            (Workload::Tpcc, 1.0),
            (Workload::Brokerage, 0.1),
            (Workload::Ch, 1.0),
        ] {
            let folder = Folder::new(&format!("threads-{}", format.as_str()));
            let mut seen = Vec::new();
            for threads in 1..=3 {
                let dir = folder.0.join(threads.to_string());
                let all = GeneratePlan { workload, scale, threads, format, ..plan(&dir) };
                let outcome =
                    generate(GeneratePlan { tables: None, ..all }, &Control::new()).unwrap();
                let mut files = Vec::new();
                for table in &outcome.tables {
                    let bytes = fs::read(dir.join(&table.files[0])).unwrap();
                    assert_eq!(bytes.len() as u64, table.bytes, "{}", table.table);
                    files.push((table.table.clone(), table.rows, bytes));
                }
                seen.push(files);
            }
            assert!(seen[0] == seen[1] && seen[1] == seen[2], "{workload:?} as {format:?}");
            assert_eq!(seen[0].len(), workload.tables().len());
        }
    }
}

#[test]
fn csv_has_a_header_and_as_many_fields_in_each_row() {
    let folder = Folder::new("csv");
    let csv = GeneratePlan {
        format: FileFormat::Csv,
        workload: Workload::Tpcc,
        scale: 1.0,
        ..plan(&folder.0)
    };
    let tables = Some(vec!["new_order".to_owned(), "orders".to_owned()]);
    let outcome = generate(GeneratePlan { tables, ..csv }, &Control::new()).unwrap();
    for table in &outcome.tables {
        let text = fs::read_to_string(folder.0.join(&table.files[0])).unwrap();
        assert_eq!(text.lines().count() as u64, table.rows + 1);
        let commas = |line: &str| line.bytes().filter(|byte| *byte == b',').count();
        let header = text.lines().next().unwrap();
        assert!(header.contains("o_id,"));
        assert!(text.lines().all(|line| commas(line) == commas(header)));
    }
}

#[test]
fn existing_files_stay_unless_replaced() {
    let folder = Folder::new("existing");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("nation.tbl"), "mine").unwrap();
    let error = generate(plan(&folder.0), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.contains("nation.tbl exists"), "{error}");
    assert_eq!(folder.names(), ["nation.tbl"], "nothing was written");
    assert_eq!(fs::read(folder.0.join("nation.tbl")).unwrap(), b"mine");
    generate(GeneratePlan { replace: true, ..plan(&folder.0) }, &Control::new()).unwrap();
    assert_eq!(fs::read_to_string(folder.0.join("nation.tbl")).unwrap().lines().count(), 25);
}

#[test]
fn a_full_disk_is_told_with_the_path() {
    for format in FORMATS {
        let full = GeneratePlan { format, ..plan(Path::new("/dev/full")) };
        let error = generate(full, &Control::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::DiskFull, "{format:?}");
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }
}

#[test]
fn links_in_the_folder_are_not_written_through() {
    let folder = Folder::new("links");
    let outside = Folder::new("links-outside");
    fs::create_dir_all(&folder.0).unwrap();
    fs::create_dir_all(&outside.0).unwrap();
    let precious = outside.0.join("precious");
    fs::write(&precious, "mine").unwrap();
    symlink(&precious, folder.0.join(".nation.tbl.partial")).unwrap();
    generate(plan(&folder.0), &Control::new()).unwrap();
    assert_eq!(fs::read(&precious).unwrap(), b"mine");

    fs::remove_file(folder.0.join("nation.tbl")).unwrap();
    symlink(&precious, folder.0.join("nation.tbl")).unwrap();
    let again = GeneratePlan { replace: true, ..plan(&folder.0) };
    let error = generate(again, &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(folder.0.join("nation.tbl").is_symlink());
    assert_eq!(fs::read(&precious).unwrap(), b"mine");
}

#[test]
fn a_cancelled_run_leaves_nothing_half_written() {
    for format in FORMATS {
        let folder = Folder::new(&format!("cancelled-{}", format.as_str()));
        let control = Control::new();
        let large = GeneratePlan { scale: 100.0, format, ..plan(&folder.0) };
        let error = std::thread::scope(|scope| {
            let run = scope.spawn(|| generate(large, &control));
            while control.progress().step.is_empty() {
                std::thread::yield_now(); // until the first file is open
            }
            control.cancel();
            run.join().unwrap().unwrap_err()
        });
        assert_eq!(error.kind, ErrorKind::Cancelled);
        assert!(folder.names().is_empty(), "{format:?}");
    }
}

#[test]
fn impossible_plans_are_refused() {
    let folder = Folder::new("plans");
    for bad in [
        GeneratePlan { parts: 0, ..plan(&folder.0) },
        GeneratePlan { parts: 2, part: Some(3), ..plan(&folder.0) },
        GeneratePlan { part: Some(0), ..plan(&folder.0) },
        GeneratePlan { tables: Some(vec!["lineitems".to_owned()]), ..plan(&folder.0) },
        GeneratePlan { scale: 0.0, ..plan(&folder.0) },
    ] {
        assert_eq!(generate(bad, &Control::new()).unwrap_err().kind, ErrorKind::Usage);
    }
    assert!(!folder.0.exists());
}

#[test]
fn a_device_takes_the_rows_and_keeps_none() {
    for format in FORMATS {
        let folder = Folder::new(&format!("device-{}", format.as_str()));
        let written = |dir| generate(GeneratePlan { format, ..plan(dir) }, &Control::new());
        let (kept, null) = (written(&folder.0).unwrap(), written(Path::new("/dev/null")).unwrap());
        for (kept, null) in kept.tables.iter().zip(&null.tables) {
            assert_eq!((kept.rows, kept.bytes), (null.rows, null.bytes));
        }
    }
}
