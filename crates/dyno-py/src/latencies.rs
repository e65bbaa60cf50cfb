//! Latency histograms for analysis and the live page: decoded, merged, and in bins of time.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use dyno_record::{
    Decoder, Error, ErrorKind, Histograms, Latency, Shape, Slot, Sums, Timeline, Values,
};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::control::raise;

thread_local! {
    /// Its buffers take a megabyte, and a report has thousands of distributions.
    static DECODER: RefCell<Decoder> = RefCell::default();
}

/// Fewer histograms than these are not worth a thread.
const FEW: usize = 500;

/// One latency distribution.
#[pyclass(name = "Latency", module = "dyno._core")]
#[derive(Default)]
pub struct PyLatency(Latency);

#[pymethods]
impl PyLatency {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds a stored histogram.
    fn add(&mut self, text: &str) -> PyResult<()> {
        DECODER
            .with_borrow_mut(|decoder| self.0.add_encoded(text, decoder))
            .map_err(|error| raise(&error))
    }

    /// Adds the latencies of another distribution.
    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    /// Used slots (16 bits each) and their counts (64 bits).
    fn used<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let (slots, counts) = self.0.used();
        (of_slots(py, &slots), of_counts(py, &counts))
    }

    /// The distribution as it is stored.
    fn encode(&self) -> PyResult<String> {
        self.0.encode().map_err(|error| raise(&error))
    }
}

/// Many histograms, one a row.
#[pyclass(name = "Histograms", module = "dyno._core", frozen)]
pub struct PyHistograms(Histograms);

#[pymethods]
impl PyHistograms {
    /// Stored histograms: those of the rows `rows` (64-bit integers) of an Arrow array of texts with
    /// these buffers. Empty text has no latencies.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
    fn stored(
        py: Python<'_>,
        offsets: PyBuffer<i32>,
        texts: PyBuffer<u8>,
        rows: PyBuffer<i64>,
    ) -> PyResult<Self> {
        let (offsets, texts, rows) = (offsets.to_vec(py)?, texts.to_vec(py)?, rows.to_vec(py)?);
        let halves = rows.split_at(if rows.len() < FEW { 0 } else { rows.len() / 2 });
        let decoded = |rows| of_texts(&offsets, &texts, rows);
        let found = py.detach(|| match halves {
            ([], rows) => decoded(rows),
            (first, second) => std::thread::scope(|scope| {
                let first = scope.spawn(|| decoded(first));
                let second = decoded(second)?;
                let mut all = first.join().expect("decoding does not panic")?;
                all.append(second);
                Ok(all)
            }),
        });
        found.map(Self).map_err(|error| raise(&error))
    }

    /// Single latencies in ns (64-bit integers); 0 is a row without one.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
    fn single(py: Python<'_>, latencies_ns: PyBuffer<i64>) -> PyResult<Self> {
        let mut found = Histograms::default();
        for ns in latencies_ns.to_vec(py)? {
            match u64::try_from(ns) {
                Ok(ns) if ns > 0 => found.push_latency(ns),
                _ => found.push_empty(),
            }
        }
        Ok(Self(found))
    }
}

/// The latencies of one operation over time.
#[pyclass(name = "Timeline", module = "dyno._core", frozen)]
pub struct PyTimeline(Mutex<Timeline>);

/// The sums of rows in the bins of a timeline.
#[pyclass(name = "Sums", module = "dyno._core", frozen)]
pub struct PySums(Sums);

/// Bins (64-bit integers), slots of the quantiles (16 bits), rows of the heat map (32 bits).
type Bytes<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl PyTimeline {
    #[new]
    fn new(
        factor: i64,
        levels: usize,
        kept: usize,
        held: usize,
        quantiles: Vec<f64>,
        heat_rows: Vec<u8>,
    ) -> PyResult<Self> {
        let timeline = Timeline::new(Shape { factor, levels, kept, held, quantiles, heat_rows });
        Ok(Self(Mutex::new(timeline.map_err(|error| raise(&error))?)))
    }

    /// Adds rows of histograms, each in its bin (64-bit integers); returns the new values a level,
    /// and the sums of these rows. The bins reach `newest` or further in the end.
    #[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
    fn add<'py>(
        &self,
        py: Python<'py>,
        bins: PyBuffer<i64>,
        rows: PyBuffer<i64>,
        histograms: &PyHistograms,
        newest: i64,
    ) -> PyResult<(Vec<Bytes<'py>>, PySums)> {
        let (bins, rows) = (bins.to_vec(py)?, rows.to_vec(py)?);
        let found = py.detach(|| {
            let mut timeline = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            timeline.add(&bins, &rows, &histograms.0, newest)
        });
        let (levels, sums) = found.map_err(|error| raise(&error))?;
        Ok((levels.iter().map(|values| of_values(py, values)).collect(), PySums(sums)))
    }

    /// Adds what other timelines have added; returns the new values a level.
    #[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
    fn add_sums<'py>(&self, py: Python<'py>, sums: Vec<Py<PySums>>) -> Vec<Bytes<'py>> {
        let sums: Vec<&Sums> = sums.iter().map(|one| &one.get().0).collect();
        let levels =
            py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).add_sums(&sums));
        levels.iter().map(|values| of_values(py, values)).collect()
    }

    /// All latencies: used slots (16 bits each) and their counts (64 bits).
    fn whole<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let (slots, counts) = self.0.lock().unwrap_or_else(PoisonError::into_inner).whole();
        (of_slots(py, &slots), of_counts(py, &counts))
    }
}

fn of_texts(offsets: &[i32], texts: &[u8], rows: &[i64]) -> dyno_record::Result<Histograms> {
    let text = |row: i64| {
        let [start, end] = *offsets.get(usize::try_from(row).ok()?..)?.first_chunk()?;
        texts.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    };
    let (mut found, mut decoder) = (Histograms::default(), Decoder::default());
    for &row in rows {
        match text(row).ok_or_else(|| Error::new(ErrorKind::Usage, "A text does not exist."))? {
            [] => found.push_empty(),
            text => found.push(text, &mut decoder)?,
        }
    }
    Ok(found)
}

fn of_values<'py>(py: Python<'py>, values: &Values) -> Bytes<'py> {
    let bins: Vec<u8> = values.bins.iter().flat_map(|bin| bin.to_ne_bytes()).collect();
    let heat: Vec<u8> = values.heat.iter().flat_map(|count| count.to_ne_bytes()).collect();
    (PyBytes::new(py, &bins), of_slots(py, &values.quantiles), PyBytes::new(py, &heat))
}

fn of_slots<'py>(py: Python<'py>, slots: &[Slot]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = slots.iter().flat_map(|slot| slot.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

fn of_counts<'py>(py: Python<'py>, counts: &[u64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}
