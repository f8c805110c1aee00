//! What a kernel takes and returns: a column, or one value that stands for all rows.

use arrow_array::{Array, ArrayRef, Datum, UInt32Array, new_null_array};
use arrow_schema::DataType as ArrowType;
use arrow_select::take::take;

use crate::error::Result;

/// A column of values, or one value for all rows (an array of length one).
#[derive(Debug, Clone)]
pub enum Column {
    /// One value per row.
    Array(ArrayRef),
    /// One value for all rows.
    Scalar(ArrayRef),
}

impl Column {
    /// Returns the array behind it, of length one for a scalar.
    #[must_use]
    pub fn array(&self) -> &ArrayRef {
        match self {
            Self::Array(array) | Self::Scalar(array) => array,
        }
    }

    /// Returns whether it is one value for all rows.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar(_))
    }

    /// Returns whether it is one NULL for all rows.
    #[must_use]
    pub fn is_null_scalar(&self) -> bool {
        matches!(self, Self::Scalar(array) if array.is_null(0))
    }

    /// Returns the position in [`Self::array`] of a row's value.
    #[must_use]
    pub fn position(&self, row: usize) -> usize {
        if self.is_scalar() { 0 } else { row }
    }

    /// Returns NULL for all rows.
    #[must_use]
    pub fn null(arrow_type: &ArrowType) -> Self {
        Self::Scalar(new_null_array(arrow_type, 1))
    }

    /// Returns an array of `rows` values.
    ///
    /// # Errors
    /// `types.arrow` if the array cannot be that large.
    pub fn into_array(self, rows: usize) -> Result<ArrayRef> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Scalar(array) if rows == 1 => Ok(array),
            Self::Scalar(array) if array.is_null(0) => Ok(new_null_array(array.data_type(), rows)),
            Self::Scalar(array) => Ok(take(&array, &UInt32Array::from(vec![0; rows]), None)?),
        }
    }

    /// Returns the values at some rows.
    pub(crate) fn take(&self, rows: &UInt32Array) -> Result<Self> {
        Ok(match self {
            Self::Array(array) => Self::Array(take(array, rows, None)?),
            Self::Scalar(array) => Self::Scalar(array.clone()),
        })
    }
}

impl Datum for Column {
    fn get(&self) -> (&dyn Array, bool) {
        (self.array().as_ref(), self.is_scalar())
    }
}
