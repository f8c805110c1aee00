//! Types as text, in Flink's summary spelling (`STRING`, `TIMESTAMP_LTZ(3)`, `ROW<...>`).

use std::fmt;

use super::{DataType, Field, LogicalType, MAX_LENGTH};

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.logical.fmt(f)?;
        // NULL has no other form, so that its text needs no suffix.
        if !self.nullable && self.logical != LogicalType::Null {
            f.write_str(" NOT NULL")?;
        }
        Ok(())
    }
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::VarChar(MAX_LENGTH) => f.write_str("STRING"),
            Self::VarChar(n) => write!(f, "VARCHAR({n})"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Binary(n) => write!(f, "BINARY({n})"),
            Self::VarBinary(MAX_LENGTH) => f.write_str("BYTES"),
            Self::VarBinary(n) => write!(f, "VARBINARY({n})"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Date => f.write_str("DATE"),
            Self::Time(p) => write!(f, "TIME({p})"),
            Self::Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            Self::TimestampLtz(p) => write!(f, "TIMESTAMP_LTZ({p})"),
            Self::IntervalYearMonth => f.write_str("INTERVAL MONTH"),
            Self::IntervalDayTime => f.write_str("INTERVAL SECOND(3)"),
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    field.fmt(f)?;
                }
                f.write_str(">")
            }
            Self::Null => f.write_str("NULL"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name.replace('`', "``"), self.data_type)
    }
}
