//! Constructors and operators of [`Expr`], named as in the reference's `Expressions`.

use aquifer_types::{DataType, Value};

use super::{Expr, Literal};

/// A column of the input; `*` is all of them.
pub fn col(name: impl Into<String>) -> Expr {
    let name = name.into();
    if name == "*" {
        Expr::Star
    } else {
        Expr::Column(name)
    }
}

/// A constant.
pub fn lit(value: impl Into<Value>) -> Expr {
    Expr::Literal(Literal {
        value: value.into(),
        data_type: None,
    })
}

/// A call of a function by name.
pub fn call(function: impl Into<String>, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::Call {
        function: function.into(),
        args: args.into_iter().collect(),
        distinct: false,
    }
}

/// A row of several values.
pub fn row(fields: impl IntoIterator<Item = Expr>) -> Expr {
    call("ROW", fields)
}

/// An expression as SQL text.
pub fn sql(text: impl Into<String>) -> Expr {
    Expr::Sql(text.into())
}

macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident = $function:literal;)+) => {
        impl Expr {$(
            $(#[$doc])*
            pub fn $method(self, other: impl Into<Operand>) -> Expr {
                call($function, [self, other.into().0])
            }
        )+}
    };
}

macro_rules! unary {
    ($($(#[$doc:meta])* $method:ident = $function:literal;)+) => {
        impl Expr {$(
            $(#[$doc])*
            pub fn $method(self) -> Expr {
                call($function, [self])
            }
        )+}
    };
}

binary! {
    /// Sum.
    plus = "+";
    /// Difference.
    minus = "-";
    /// Product.
    times = "*";
    /// Quotient.
    divided_by = "/";
    /// Remainder.
    modulo = "%";
    /// Equality.
    is_equal = "=";
    /// Inequality.
    is_not_equal = "<>";
    /// Greater than.
    is_greater = ">";
    /// Greater than or equal to.
    is_greater_or_equal = ">=";
    /// Less than.
    is_less = "<";
    /// Less than or equal to.
    is_less_or_equal = "<=";
    /// Both are true.
    and = "AND";
    /// One of them is true.
    or = "OR";
    /// Matches a LIKE pattern.
    like = "LIKE";
}

unary! {
    /// The condition is not true.
    is_not = "NOT";
    /// The value is NULL.
    is_null = "IS NULL";
    /// The value is not NULL.
    is_not_null = "IS NOT NULL";
    /// The value is TRUE.
    is_true = "IS TRUE";
    /// The value is FALSE.
    is_false = "IS FALSE";
    /// Upper case.
    upper_case = "UPPER";
    /// Lower case.
    lower_case = "LOWER";
    /// Number of characters.
    char_length = "CHAR_LENGTH";
    /// Absolute value.
    abs = "ABS";
    /// Aggregate: number of values that are not NULL.
    count = "COUNT";
    /// Aggregate: sum.
    sum = "SUM";
    /// Aggregate: least value.
    min = "MIN";
    /// Aggregate: greatest value.
    max = "MAX";
    /// Aggregate: mean.
    avg = "AVG";
}

impl Expr {
    /// Gives the result a name.
    pub fn alias(self, name: impl Into<String>) -> Expr {
        Expr::Alias {
            expr: Box::new(self),
            name: name.into(),
        }
    }

    /// Converts; fails at run time where a value does not fit.
    pub fn cast(self, data_type: impl Into<DataType>) -> Expr {
        Expr::Cast {
            expr: Box::new(self),
            data_type: data_type.into(),
            is_try: false,
        }
    }

    /// Converts; NULL where a value does not fit.
    pub fn try_cast(self, data_type: impl Into<DataType>) -> Expr {
        Expr::Cast {
            expr: Box::new(self),
            data_type: data_type.into(),
            is_try: true,
        }
    }

    /// An aggregate over distinct values: `col("a").count().distinct()`.
    pub fn distinct(self) -> Expr {
        match self {
            Expr::Call { function, args, .. } => Expr::Call {
                function,
                args,
                distinct: true,
            },
            other => other,
        }
    }
}

/// The second operand of an operator: an expression or a constant.
pub struct Operand(Expr);

impl From<Expr> for Operand {
    fn from(expr: Expr) -> Self {
        Operand(expr)
    }
}

macro_rules! operand {
    ($($type:ty),+) => {$(
        impl From<$type> for Operand {
            fn from(value: $type) -> Self {
                Operand(lit(value))
            }
        }
    )+};
}
operand!(bool, i32, i64, f64, &str, String);

macro_rules! operator {
    ($($trait:ident $method:ident $function:literal;)+) => {$(
        impl<R: Into<Operand>> std::ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                call($function, [self, other.into().0])
            }
        }
    )+};
}
operator! {
    Add add "+";
    Sub sub "-";
    Mul mul "*";
    Div div "/";
    Rem rem "%";
    BitAnd bitand "AND";
    BitOr bitor "OR";
}

impl std::ops::Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        self.is_not()
    }
}

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        call("-", [self])
    }
}
