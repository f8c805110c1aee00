//! The wire form of a batch: the schema is agreed at build time and not repeated.
//!
//! Layout, integers little-endian: a version byte, a flag byte (bit 0: weights follow), the
//! number of rows (u32), the weights (i64 each), then the columns. A column is a byte that says
//! whether a validity bitmap follows, the bitmap, and the values: fixed-width values as they are
//! in memory, booleans as a bitmap, text and bytes as rows+1 offsets (u32 from 0) and the data,
//! lists and maps as offsets and the child column, structs as their columns. Slices are written
//! as if they were whole arrays. Reading checks every length against the bytes that are left
//! before it allocates, and lets Arrow validate offsets and UTF-8.

use arrow_array::{Array, ArrayRef, Int64Array, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, bit_util};
use arrow_data::ArrayData;
use arrow_schema::DataType as ArrowType;

use super::change_batch::ChangeBatch;
use crate::data_type::DataType;
use crate::error::{Result, TypesError};

const VERSION: u8 = 1;
const HAS_WEIGHTS: u8 = 1;

impl ChangeBatch {
    /// Appends the wire form to `out`.
    ///
    /// # Panics
    /// If the batch has more than `u32::MAX` rows.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        out.push(if self.weights().is_some() {
            HAS_WEIGHTS
        } else {
            0
        });
        let rows = u32::try_from(self.len()).expect("a batch has at most u32::MAX rows");
        out.extend_from_slice(&rows.to_le_bytes());
        if let Some(weights) = self.weights() {
            encode_fixed(&weights.to_data(), 8, out);
        }
        for column in self.columns() {
            encode_column(&column.to_data(), out);
        }
    }

    /// Reads the wire form of a batch with columns of the given types.
    ///
    /// # Errors
    /// `types.decode` if the bytes are not such a batch, or if bytes are left over.
    pub fn decode(bytes: &[u8], types: &[DataType]) -> Result<Self> {
        let mut reader = Reader { bytes, offset: 0 };
        let version = reader.byte()?;
        if version != VERSION {
            return Err(reader.error(format!("version {version} is not known")));
        }
        let flags = reader.byte()?;
        if flags & !HAS_WEIGHTS != 0 {
            return Err(reader.error(format!("flags {flags:#x} are not known")));
        }
        let rows = reader.u32()? as usize;
        let weights = if flags & HAS_WEIGHTS != 0 {
            let data = reader.take_items(rows, 8)?;
            Some(Int64Array::new(Buffer::from(data).into(), None))
        } else {
            None
        };
        let columns = types
            .iter()
            .map(|t| Ok(make_array(decode_column(&mut reader, &t.to_arrow(), rows)?)))
            .collect::<Result<Vec<ArrayRef>>>()?;
        if reader.offset != bytes.len() {
            return Err(reader.error("bytes are left over"));
        }
        Self::new(columns, weights, rows)
    }
}

fn encode_fixed(data: &ArrayData, width: usize, out: &mut Vec<u8>) {
    let start = data.offset() * width;
    out.extend_from_slice(&data.buffers()[0].as_slice()[start..start + data.len() * width]);
}

fn encode_bits(bits: &BooleanBuffer, out: &mut Vec<u8>) {
    // `sliced` moves the bits to the front of a byte; the rest of the last byte is cleared, so
    // that equal batches have equal bytes.
    let buffer = bits.sliced();
    let bytes = bit_util::ceil(bits.len(), 8);
    out.extend_from_slice(&buffer.as_slice()[..bytes]);
    let used = bits.len() % 8;
    if used != 0
        && let Some(last) = out.last_mut()
    {
        *last &= (1 << used) - 1;
    }
}

/// Writes offsets from 0 on and returns the range of the child that they cover.
fn encode_offsets(data: &ArrayData, out: &mut Vec<u8>) -> (usize, usize) {
    if data.is_empty() {
        out.extend_from_slice(&0_u32.to_le_bytes());
        return (0, 0);
    }
    let offsets = &data.buffer::<i32>(0)[..=data.len()];
    let first = offsets[0];
    for offset in offsets {
        out.extend_from_slice(&(offset - first).to_le_bytes());
    }
    (first as usize, offsets[data.len()] as usize)
}

fn encode_column(data: &ArrayData, out: &mut Vec<u8>) {
    match data.nulls().filter(|n| n.null_count() > 0) {
        Some(nulls) => {
            out.push(1);
            encode_bits(nulls.inner(), out);
        }
        None => out.push(0),
    }
    match data.data_type() {
        ArrowType::Null => {}
        ArrowType::Boolean => {
            let bits = BooleanBuffer::new(data.buffers()[0].clone(), data.offset(), data.len());
            encode_bits(&bits, out);
        }
        ArrowType::Utf8 | ArrowType::Binary => {
            let (first, end) = encode_offsets(data, out);
            out.extend_from_slice(&data.buffers()[1].as_slice()[first..end]);
        }
        ArrowType::List(_) | ArrowType::Map(..) => {
            let (first, end) = encode_offsets(data, out);
            encode_column(&data.child_data()[0].slice(first, end - first), out);
        }
        ArrowType::Struct(_) => {
            for child in data.child_data() {
                encode_column(&child.slice(data.offset(), data.len()), out);
            }
        }
        other => {
            let width = other
                .primitive_width()
                .expect("all other types have a fixed width");
            encode_fixed(data, width, out);
        }
    }
}

fn decode_column(reader: &mut Reader<'_>, arrow: &ArrowType, rows: usize) -> Result<ArrayData> {
    let nulls = match reader.byte()? {
        0 => None,
        1 => Some(NullBuffer::new(reader.bits(rows)?)),
        other => return Err(reader.error(format!("validity flag {other} is not known"))),
    };
    let mut builder = ArrayData::builder(arrow.clone()).len(rows);
    if *arrow == ArrowType::Null {
        if nulls.is_some() {
            return Err(reader.error("a NULL column has no validity bitmap"));
        }
    } else {
        builder = builder.nulls(nulls);
    }
    match arrow {
        ArrowType::Null => {}
        ArrowType::Boolean => builder = builder.add_buffer(reader.bits(rows)?.into_inner()),
        ArrowType::Utf8 | ArrowType::Binary => {
            let (offsets, length) = reader.offsets(rows)?;
            let data = reader.take_items(length, 1)?;
            builder = builder.add_buffer(offsets).add_buffer(Buffer::from(data));
        }
        ArrowType::List(field) | ArrowType::Map(field, _) => {
            let (offsets, length) = reader.offsets(rows)?;
            let child = decode_column(reader, field.data_type(), length)?;
            builder = builder.add_buffer(offsets).add_child_data(child);
        }
        ArrowType::Struct(fields) => {
            for field in fields {
                builder = builder.add_child_data(decode_column(reader, field.data_type(), rows)?);
            }
        }
        other => {
            let width = other
                .primitive_width()
                .expect("all other types have a fixed width");
            builder = builder.add_buffer(Buffer::from(reader.take_items(rows, width)?));
        }
    }
    builder
        .build()
        .map_err(|error| reader.error(error.to_string()))
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> TypesError {
        TypesError::Decode {
            offset: self.offset,
            message: message.into(),
        }
    }

    fn take_items(&mut self, items: usize, width: usize) -> Result<&'a [u8]> {
        let end = items
            .checked_mul(width)
            .and_then(|n| n.checked_add(self.offset));
        match end.and_then(|end| self.bytes.get(self.offset..end)) {
            Some(slice) => {
                self.offset += slice.len();
                Ok(slice)
            }
            None => Err(self.error(format!(
                "expected {items} items of {width} bytes, but {} bytes are left",
                self.bytes.len() - self.offset
            ))),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take_items(1, 1)?[0])
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.take_items(1, 4)?;
        Ok(u32::from_le_bytes(
            bytes.try_into().expect("four bytes were taken"),
        ))
    }

    fn bits(&mut self, rows: usize) -> Result<BooleanBuffer> {
        let bytes = self.take_items(bit_util::ceil(rows, 8), 1)?;
        Ok(BooleanBuffer::new(Buffer::from(bytes), 0, rows))
    }

    /// Returns the offsets and the length of the child that they cover.
    fn offsets(&mut self, rows: usize) -> Result<(Buffer, usize)> {
        let bytes = self.take_items(rows + 1, 4)?;
        let at = |i: usize| {
            let four = bytes[i * 4..i * 4 + 4]
                .try_into()
                .expect("four bytes per offset");
            u32::from_le_bytes(four)
        };
        let mut last = 0;
        for i in 0..=rows {
            let offset = at(i);
            if (i == 0 && offset != 0) || offset < last || offset > i32::MAX as u32 {
                return Err(self.error(format!("offset {offset} of row {i} is out of order")));
            }
            last = offset;
        }
        Ok((Buffer::from(bytes), last as usize))
    }
}
