//! Columns of results: their types, and their values in a row (MS-TDS, 2.2.5.4 and 2.2.7.4).

use std::borrow::Cow;

use dyno_record::Result;

use super::packet::{Reader, broken};
use super::text::{Collation, Encoding};
use crate::wire::Type;

// Types with a fixed length, of columns that are never null.
const NULL: u8 = 0x1F;
const INT1: u8 = 0x30;
const BIT: u8 = 0x32;
const INT2: u8 = 0x34;
pub const INT4: u8 = 0x38;
const DATETIM4: u8 = 0x3A;
const FLT4: u8 = 0x3B;
const MONEY: u8 = 0x3C;
const DATETIME: u8 = 0x3D;
const FLT8: u8 = 0x3E;
const MONEY4: u8 = 0x7A;
pub const INT8: u8 = 0x7F;
// Types whose values have a length of one byte.
const GUID: u8 = 0x24;
pub const INTN: u8 = 0x26;
pub const DATEN: u8 = 0x28;
const TIMEN: u8 = 0x29;
pub const DATETIME2N: u8 = 0x2A;
const DATETIMEOFFSETN: u8 = 0x2B;
const BITN: u8 = 0x68;
pub const DECIMALN: u8 = 0x6A;
pub const NUMERICN: u8 = 0x6C;
const FLTN: u8 = 0x6D;
const MONEYN: u8 = 0x6E;
const DATETIMN: u8 = 0x6F;
// Types whose values have a length of two bytes, or chunks.
const BIGVARBINARY: u8 = 0xA5;
pub const BIGVARCHAR: u8 = 0xA7;
const BIGBINARY: u8 = 0xAD;
pub const BIGCHAR: u8 = 0xAF;
pub const NVARCHAR: u8 = 0xE7;
pub const NCHAR: u8 = 0xEF;
// Large values.
const IMAGE: u8 = 0x22;
const TEXT: u8 = 0x23;
const VARIANT: u8 = 0x62;
const NTEXT: u8 = 0x63;
const UDT: u8 = 0xF0;
const XML: u8 = 0xF1;

/// Maximum columns of a result.
const MOST_COLUMNS: usize = 4096;
/// The length of a type with chunks, and of a null with a two-byte length.
const UNLIMITED: u16 = 0xFFFF;
/// The number of columns when they are not described.
const UNDESCRIBED: u16 = 0xFFFF;

/// Where a value's length is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Fixed(u8),
    Byte,
    Short,
    /// A total, then chunks with their lengths, the last of them empty.
    Chunks,
    /// A pointer and a time stamp, then a length of four bytes.
    Pointer,
    /// Four bytes.
    Long,
}

/// A column of a result, as the server describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its type number.
    pub kind: u8,
    length: Length,
    /// Digits after the point of a decimal.
    pub scale: u8,
    /// Encoding of a text.
    pub encoding: Encoding,
}

/// The description of a column.
#[derive(Debug, Clone, Copy)]
pub struct Description<'a> {
    /// The column.
    pub column: Column,
    /// Its flags; bit 0: it may be null.
    pub flags: u16,
    /// Its type with all details, as the server sent it.
    pub type_info: &'a [u8],
}

/// A value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// The value.
    Whole(&'a [u8]),
    /// Chunks, each after its length of four bytes.
    Chunks(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The parts of the value.
    pub fn parts(self) -> impl Iterator<Item = &'a [u8]> {
        let (whole, mut chunks) = match self {
            Self::Null => (None, Reader(&[])),
            Self::Whole(bytes) => (Some(bytes), Reader(&[])),
            Self::Chunks(bytes) => (None, Reader(bytes)),
        };
        whole.into_iter().chain(std::iter::from_fn(move || {
            let length = chunks.u32()?;
            chunks.bytes(length as usize)
        }))
    }

    /// The value in one piece, because the server cuts chunks at any byte; `None` if it is null.
    pub fn joined(self) -> Option<Cow<'a, [u8]>> {
        if self == Self::Null {
            return None;
        }
        let mut parts = self.parts();
        let mut all = Cow::Borrowed(parts.next().unwrap_or_default());
        parts.for_each(|part| all.to_mut().extend_from_slice(part));
        Some(all)
    }
}

impl<'a> Description<'a> {
    /// Removes a column's description from the front; `None` if it is truncated.
    fn take(reader: &mut Reader<'a>) -> Result<Option<Self>> {
        let Some((_, flags)) = reader.u32().zip(reader.u16()) else { return Ok(None) };
        let before = reader.0;
        let Some(column) = Column::take_type(reader)? else { return Ok(None) };
        let type_info = &before[..before.len() - reader.0.len()];
        let mut rest = || {
            // The name of the table, in parts.
            if matches!(column.kind, TEXT | NTEXT | IMAGE) {
                for _ in 0..reader.u8()? {
                    reader.long_text()?;
                }
            }
            reader.short_text()
        };
        Ok(rest().map(|_| Self { column, flags, type_info }))
    }

    /// Removes the descriptions of a result's columns from the front, empty if the server does not
    /// describe them; `None` if they are truncated.
    ///
    /// # Errors
    /// `protocol` for an unknown type or too many columns.
    pub fn take_all(reader: &mut Reader<'a>) -> Result<Option<Vec<Self>>> {
        let Some(count) = reader.u16() else { return Ok(None) };
        if count == UNDESCRIBED {
            return Ok(Some(Vec::new()));
        }
        if usize::from(count) > MOST_COLUMNS {
            return Err(broken(format_args!("a result of {count} columns")));
        }
        let mut all = Vec::with_capacity(usize::from(count).min(reader.0.len() / 8));
        for _ in 0..count {
            let Some(description) = Self::take(reader)? else { return Ok(None) };
            all.push(description);
        }
        Ok(Some(all))
    }
}

impl Column {
    /// Removes a type with its details from the front; `None` if it is truncated.
    ///
    /// # Errors
    /// `protocol` for an unknown type.
    pub fn take_type(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let Some(kind) = reader.u8() else { return Ok(None) };
        let mut column = Self { kind, length: Length::Byte, scale: 0, encoding: Encoding::Utf16 };
        let fixed = match kind {
            NULL => Some(0),
            INT1 | BIT => Some(1),
            INT2 => Some(2),
            INT4 | DATETIM4 | FLT4 | MONEY4 => Some(4),
            MONEY | DATETIME | FLT8 | INT8 => Some(8),
            _ => None,
        };
        if let Some(bytes) = fixed {
            column.length = Length::Fixed(bytes);
            return Ok(Some(column));
        }
        match kind {
            GUID | INTN | DATEN | TIMEN | DATETIME2N | DATETIMEOFFSETN | BITN | DECIMALN
            | NUMERICN | FLTN | MONEYN | DATETIMN | BIGVARBINARY | BIGVARCHAR | BIGBINARY
            | BIGCHAR | NVARCHAR | NCHAR | IMAGE | TEXT | NTEXT | VARIANT | UDT | XML => {}
            _ => return Err(broken(format_args!("a column of type {kind:#x}"))),
        }
        Ok(column.take_details(reader).map(|()| column))
    }

    fn take_details(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        match self.kind {
            DATEN => {}
            TIMEN | DATETIME2N | DATETIMEOFFSETN => self.scale = reader.u8()?,
            DECIMALN | NUMERICN => {
                reader.bytes(2)?;
                self.scale = reader.u8()?;
            }
            BIGVARBINARY | BIGVARCHAR | BIGBINARY | BIGCHAR | NVARCHAR | NCHAR => {
                let limit = reader.u16()?;
                self.length = if limit == UNLIMITED { Length::Chunks } else { Length::Short };
                if !matches!(self.kind, BIGVARBINARY | BIGBINARY) {
                    let collation = Collation::take(reader)?;
                    if matches!(self.kind, BIGVARCHAR | BIGCHAR) {
                        self.encoding = collation.encoding();
                    }
                }
            }
            TEXT | NTEXT => {
                self.length = Length::Pointer;
                reader.u32()?;
                let collation = Collation::take(reader)?;
                if self.kind == TEXT {
                    self.encoding = collation.encoding();
                }
            }
            IMAGE => {
                self.length = Length::Pointer;
                reader.u32()?;
            }
            VARIANT => {
                self.length = Length::Long;
                reader.u32()?;
            }
            XML => {
                self.length = Length::Chunks;
                if reader.u8()? != 0 {
                    reader.short_text()?;
                    reader.short_text()?;
                    reader.long_text()?;
                }
            }
            UDT => {
                self.length = Length::Chunks;
                reader.u16()?;
                for _ in 0..3 {
                    reader.short_text()?;
                }
                reader.long_text()?;
            }
            _ => {
                reader.u8()?;
            }
        }
        Some(())
    }

    /// Whether its values have the declared type.
    pub fn is(self, declared: Type) -> bool {
        match declared {
            Type::Int | Type::BigInt => self.is_integer(),
            Type::Decimal(_) => {
                self.is_integer()
                    || matches!(self.kind, DECIMALN | NUMERICN | MONEY | MONEY4 | MONEYN)
            }
            Type::Text => self.is_text(),
            Type::Date => self.kind == DATEN,
            Type::Timestamp => {
                matches!(self.kind, DATETIME2N | DATETIME | DATETIM4 | DATETIMN)
            }
            Type::Rest => true,
        }
    }

    const fn is_integer(self) -> bool {
        matches!(self.kind, INT1 | BIT | INT2 | INT4 | INT8 | INTN | BITN)
    }

    const fn is_text(self) -> bool {
        matches!(self.kind, BIGVARCHAR | BIGCHAR | NVARCHAR | NCHAR | TEXT | NTEXT)
    }

    /// Whether a text is not read where it lies.
    pub fn is_converted(self, cell: Cell<'_>) -> bool {
        self.is_text()
            && match cell {
                Cell::Null => false,
                Cell::Chunks(_) => true,
                Cell::Whole(bytes) => match self.encoding {
                    Encoding::Utf8 => false,
                    Encoding::Utf16 => true,
                    Encoding::Page1252 | Encoding::OtherPage => !bytes.is_ascii(),
                },
            }
    }

    /// Removes its value from the front of a row; `None` if it is truncated.
    #[inline]
    pub fn take<'a>(self, row: &mut Reader<'a>) -> Option<Cell<'a>> {
        match self.length {
            Length::Fixed(bytes) => row.bytes(usize::from(bytes)).map(Cell::Whole),
            Length::Byte => match row.u8()? {
                0 => Some(Cell::Null),
                bytes => row.bytes(usize::from(bytes)).map(Cell::Whole),
            },
            Length::Short => match row.u16()? {
                UNLIMITED => Some(Cell::Null),
                bytes => row.bytes(usize::from(bytes)).map(Cell::Whole),
            },
            Length::Chunks => take_chunks(row),
            Length::Pointer => match row.u8()? {
                0 => Some(Cell::Null),
                pointer => {
                    row.bytes(usize::from(pointer) + 8)?;
                    let bytes = row.u32()?;
                    row.bytes(bytes as usize).map(Cell::Whole)
                }
            },
            Length::Long => match row.u32()? {
                0 => Some(Cell::Null),
                bytes => row.bytes(bytes as usize).map(Cell::Whole),
            },
        }
    }

    /// The value as an integer; `None` if it is not one.
    #[inline]
    pub fn integer(self, value: &[u8]) -> Option<i64> {
        if !self.is_integer() {
            return None;
        }
        Some(match *value {
            // A tinyint has no sign.
            [byte] => i64::from(byte),
            [a, b] => i64::from(i16::from_le_bytes([a, b])),
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            _ => i64::from_le_bytes(value.try_into().ok()?),
        })
    }

    /// The value in units of 10^−`scale`; `None` if it is not a number, does not fit, or has
    /// digits beyond the scale.
    pub fn decimal(self, value: &[u8], scale: u8) -> Option<i64> {
        let (units, own) = match self.kind {
            DECIMALN | NUMERICN => {
                let (sign, magnitude) = value.split_first()?;
                let mut wide = [0; 16];
                wide.get_mut(..magnitude.len())?.copy_from_slice(magnitude);
                let units = i128::try_from(u128::from_le_bytes(wide)).ok()?;
                (if *sign == 0 { -units } else { units }, self.scale)
            }
            MONEY | MONEY4 | MONEYN => {
                let units = match *value {
                    [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
                    // The high half comes first.
                    _ => i64::from_le_bytes(value.try_into().ok()?).rotate_left(32),
                };
                (i128::from(units), 4)
            }
            _ => (i128::from(self.integer(value)?), 0),
        };
        let scaled = if own <= scale {
            units.checked_mul(10i128.checked_pow(u32::from(scale - own))?)?
        } else {
            let unit = 10i128.checked_pow(u32::from(own - scale))?;
            (units % unit == 0).then_some(units / unit)?
        };
        i64::try_from(scaled).ok()
    }
}

/// Removes a value in chunks from the front.
fn take_chunks<'a>(row: &mut Reader<'a>) -> Option<Cell<'a>> {
    if row.u64()? == u64::MAX {
        return Some(Cell::Null);
    }
    let start = row.0;
    loop {
        let chunk = row.u32()?;
        if chunk == 0 {
            return Some(Cell::Chunks(&start[..start.len() - row.0.len() - 4]));
        }
        row.bytes(chunk as usize)?;
    }
}

/// Calls `visit` for each value of a row from the front of `row`, until it returns false. With
/// `packed`, a bitmap marks the nulls, which take no space. `None` if the row is truncated.
#[inline]
pub fn each_cell<'a>(
    row: &mut Reader<'a>,
    columns: &[Column],
    packed: bool,
    mut visit: impl FnMut(usize, Cell<'a>) -> bool,
) -> Option<()> {
    let nulls = if packed { row.bytes(columns.len().div_ceil(8))? } else { &[] };
    for (place, column) in columns.iter().enumerate() {
        let null = packed && nulls[place / 8] & (1 << (place % 8)) != 0;
        let cell = if null { Cell::Null } else { column.take(row)? };
        if !visit(place, cell) {
            break;
        }
    }
    Some(())
}

#[cfg(test)]
#[path = "column_tests.rs"]
mod tests;
