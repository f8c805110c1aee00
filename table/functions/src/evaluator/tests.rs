//! Random expressions against a naive interpreter of one row.

use aquifer_types::{ChangeBatch, DataType, DataTypes, Row, Value, column_value};
use arrow_array::ArrayRef;
use proptest::prelude::*;

use super::{Evaluator, fold_constants};
use crate::context::EvalContext;
use crate::expression::ResolvedExpr;

const COLUMNS: usize = 3;

/// An expression of BIGINT (`number`) or BOOLEAN (`condition`) over three BIGINT columns.
#[derive(Debug, Clone)]
enum Number {
    Literal(Option<i64>),
    Column(usize),
    Binary(&'static str, Box<(Number, Number)>),
    Negate(Box<Number>),
    Choose(&'static str, Box<(Number, Number)>),
    Case(Vec<(Condition, Number)>, Box<Number>),
}

#[derive(Debug, Clone)]
enum Condition {
    Literal(Option<bool>),
    Compare(&'static str, Box<(Number, Number)>),
    Logic(&'static str, Box<(Condition, Condition)>),
    Not(Box<Condition>),
    IsNull(Box<Number>),
    Truth(&'static str, Box<Condition>),
}

fn numbers() -> BoxedStrategy<Number> {
    let leaf = prop_oneof![
        prop::option::weighted(0.9, -4_i64..5).prop_map(Number::Literal),
        (0..COLUMNS).prop_map(Number::Column),
        (0..COLUMNS).prop_map(Number::Column),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(Box::new);
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "%"]);
        let choose = prop::sample::select(vec!["COALESCE", "NULLIF", "GREATEST", "LEAST"]);
        let branch = (conditions(inner.clone()), inner.clone());
        prop_oneof![
            (operator, pair.clone()).prop_map(|(o, p)| Number::Binary(o, p)),
            inner.clone().prop_map(|n| Number::Negate(Box::new(n))),
            (choose, pair).prop_map(|(o, p)| Number::Choose(o, p)),
            (prop::collection::vec(branch, 1..3), inner)
                .prop_map(|(b, o)| Number::Case(b, Box::new(o))),
        ]
    })
    .boxed()
}

fn conditions(number: impl Strategy<Value = Number> + Clone + 'static) -> BoxedStrategy<Condition> {
    let comparison = prop::sample::select(vec![
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "IS DISTINCT FROM",
        "IS NOT DISTINCT FROM",
    ]);
    let truth = prop::sample::select(vec![
        "IS TRUE",
        "IS NOT TRUE",
        "IS FALSE",
        "IS NOT FALSE",
        "IS UNKNOWN",
        "IS NOT UNKNOWN",
    ]);
    let leaf = prop_oneof![
        1 => prop::option::of(any::<bool>()).prop_map(Condition::Literal),
        1 => number.clone().prop_map(|n| Condition::IsNull(Box::new(n))),
        5 => (comparison, (number.clone(), number).prop_map(Box::new))
            .prop_map(|(o, p)| Condition::Compare(o, p)),
    ];
    leaf.prop_recursive(2, 6, 2, move |inner| {
        let logic = prop::sample::select(vec!["AND", "OR"]);
        prop_oneof![
            (logic, (inner.clone(), inner.clone()).prop_map(Box::new))
                .prop_map(|(o, p)| Condition::Logic(o, p)),
            inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            (truth.clone(), inner).prop_map(|(t, c)| Condition::Truth(t, Box::new(c))),
        ]
    })
    .boxed()
}

impl Number {
    fn resolve(&self) -> ResolvedExpr {
        match self {
            Self::Literal(v) => {
                let data_type = DataTypes::bigint().with_nullable(v.is_none());
                ResolvedExpr::typed_literal((*v).into(), data_type)
            }
            Self::Column(i) => ResolvedExpr::input(*i, DataTypes::bigint()),
            Self::Binary(op, p) | Self::Choose(op, p) => {
                ResolvedExpr::call(op, [p.0.resolve(), p.1.resolve()]).unwrap()
            }
            Self::Negate(n) => ResolvedExpr::call("-", [n.resolve()]).unwrap(),
            Self::Case(branches, otherwise) => {
                let branches = branches
                    .iter()
                    .map(|(c, n)| (c.resolve(), n.resolve()))
                    .collect();
                ResolvedExpr::case(branches, Some(otherwise.resolve())).unwrap()
            }
        }
    }

    fn eval(&self, row: &[Option<i64>]) -> Result<Option<i64>, ()> {
        Ok(match self {
            Self::Literal(v) => *v,
            Self::Column(i) => row[*i],
            Self::Binary(op, p) => match (p.0.eval(row)?, p.1.eval(row)?) {
                (Some(a), Some(b)) => Some(match *op {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    _ if b == 0 => return Err(()),
                    "/" => a.wrapping_div(b),
                    _ => a.wrapping_rem(b),
                }),
                _ => None,
            },
            Self::Negate(n) => n.eval(row)?.map(i64::wrapping_neg),
            Self::Choose("COALESCE", p) => match p.0.eval(row)? {
                None => p.1.eval(row)?,
                some => some,
            },
            Self::Choose(op, p) => {
                let (a, b) = (p.0.eval(row)?, p.1.eval(row)?);
                match *op {
                    "NULLIF" => {
                        if a.is_some() && a == b {
                            None
                        } else {
                            a
                        }
                    }
                    "GREATEST" => a.zip(b).map(|(a, b)| a.max(b)),
                    _ => a.zip(b).map(|(a, b)| a.min(b)),
                }
            }
            Self::Case(branches, otherwise) => {
                for (condition, number) in branches {
                    if condition.eval(row)? == Some(true) {
                        return number.eval(row);
                    }
                }
                otherwise.eval(row)?
            }
        })
    }
}

impl Condition {
    fn resolve(&self) -> ResolvedExpr {
        match self {
            Self::Literal(v) => ResolvedExpr::typed_literal(
                (*v).into(),
                DataTypes::boolean().with_nullable(v.is_none()),
            ),
            Self::Compare(op, p) => ResolvedExpr::call(op, [p.0.resolve(), p.1.resolve()]).unwrap(),
            Self::Logic(op, p) => ResolvedExpr::call(op, [p.0.resolve(), p.1.resolve()]).unwrap(),
            Self::Not(c) => ResolvedExpr::call("NOT", [c.resolve()]).unwrap(),
            Self::IsNull(n) => ResolvedExpr::call("IS NULL", [n.resolve()]).unwrap(),
            Self::Truth(op, c) => ResolvedExpr::call(op, [c.resolve()]).unwrap(),
        }
    }

    fn eval(&self, row: &[Option<i64>]) -> Result<Option<bool>, ()> {
        Ok(match self {
            Self::Literal(v) => *v,
            Self::Compare(op, p) => {
                let (a, b) = (p.0.eval(row)?, p.1.eval(row)?);
                match *op {
                    "IS DISTINCT FROM" => Some(a != b),
                    "IS NOT DISTINCT FROM" => Some(a == b),
                    op => a.zip(b).map(|(a, b)| match op {
                        "=" => a == b,
                        "<>" => a != b,
                        "<" => a < b,
                        "<=" => a <= b,
                        ">" => a > b,
                        _ => a >= b,
                    }),
                }
            }
            Self::Logic(op, p) => {
                let stop = *op == "OR";
                let a = p.0.eval(row)?;
                if a == Some(stop) {
                    return Ok(a);
                }
                match (a, p.1.eval(row)?) {
                    (_, Some(b)) if b == stop => Some(stop),
                    (Some(_), Some(_)) => Some(!stop),
                    _ => None,
                }
            }
            Self::Not(c) => c.eval(row)?.map(|v| !v),
            Self::IsNull(n) => Some(n.eval(row)?.is_none()),
            Self::Truth(op, c) => {
                let v = c.eval(row)?;
                Some(match *op {
                    "IS TRUE" => v == Some(true),
                    "IS NOT TRUE" => v != Some(true),
                    "IS FALSE" => v == Some(false),
                    "IS NOT FALSE" => v != Some(false),
                    "IS UNKNOWN" => v.is_none(),
                    _ => v.is_some(),
                })
            }
        })
    }
}

fn rows() -> impl Strategy<Value = Vec<Vec<Option<i64>>>> {
    let value = prop::option::weighted(0.8, prop_oneof![-4_i64..5, any::<i64>()]);
    prop::collection::vec(prop::collection::vec(value, COLUMNS), 1..12)
}

fn columns(rows: &[Vec<Option<i64>>]) -> Vec<ArrayRef> {
    let types = vec![DataTypes::bigint(); COLUMNS];
    // Rows before and after, so that the columns are slices.
    let padded: Vec<Row> = [vec![None; COLUMNS]]
        .iter()
        .chain(rows)
        .chain(&[vec![Some(0); COLUMNS]])
        .map(|r| Row::of(r.iter().map(|v| Value::from(*v)).collect()))
        .collect();
    let batch = ChangeBatch::from_rows(&padded, &types).unwrap();
    batch.slice(1, rows.len()).columns().to_vec()
}

/// Evaluates over the columns; an error anywhere is `None`.
fn run(expr: &ResolvedExpr, rows: &[Vec<Option<i64>>], data_type: &DataType) -> Option<Vec<Value>> {
    let evaluator = Evaluator::compile(expr).unwrap();
    let result = evaluator
        .evaluate(&columns(rows), rows.len(), &EvalContext::default())
        .ok()?;
    assert_eq!(result.len(), rows.len());
    Some(
        (0..rows.len())
            .map(|i| column_value(result.as_ref(), i, data_type))
            .collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn numbers_are_right(number in numbers(), rows in rows()) {
        let expected: Option<Vec<Value>> =
            rows.iter().map(|r| number.eval(r).map(Value::from).ok()).collect();
        let expr = number.resolve();
        prop_assert_eq!(&run(&expr, &rows, &DataTypes::bigint()), &expected, "{}", expr);
        // Folding changes neither type nor value.
        let folded = fold_constants(expr.clone());
        prop_assert_eq!(folded.data_type(), expr.data_type());
        prop_assert_eq!(run(&folded, &rows, &DataTypes::bigint()), expected, "{}", folded);
    }

    #[test]
    fn conditions_are_right(condition in conditions(numbers()), rows in rows()) {
        let expected: Option<Vec<Value>> =
            rows.iter().map(|r| condition.eval(r).map(Value::from).ok()).collect();
        let expr = condition.resolve();
        prop_assert_eq!(&run(&expr, &rows, &DataTypes::boolean()), &expected, "{}", expr);
    }
}

#[test]
fn expressions_survive_json_and_print() {
    let a = ResolvedExpr::input(0, DataTypes::bigint());
    let b = ResolvedExpr::input(1, DataTypes::string());
    let expr = ResolvedExpr::case(
        vec![(
            ResolvedExpr::and([
                ResolvedExpr::call(">", [a.clone(), ResolvedExpr::literal(5)]).unwrap(),
                ResolvedExpr::call("IS NOT NULL", [b.clone()]).unwrap(),
            ])
            .unwrap(),
            ResolvedExpr::call("+", [a.clone(), ResolvedExpr::literal(1.5)]).unwrap(),
        )],
        Some(b.try_cast(DataTypes::double()).unwrap()),
    )
    .unwrap();
    let names = ["a".to_owned(), "b".to_owned()];
    assert_eq!(
        expr.display_with(&names).to_string(),
        "CASE WHEN ((a > CAST(5 AS BIGINT)) AND b IS NOT NULL) THEN (CAST(a AS DOUBLE) + 1.5) \
         ELSE TRY_CAST(b AS DOUBLE) END"
    );
    assert_eq!(
        fold_constants(expr.clone())
            .display_with(&names)
            .to_string(),
        "CASE WHEN ((a > 5) AND b IS NOT NULL) THEN (CAST(a AS DOUBLE) + 1.5) \
         ELSE TRY_CAST(b AS DOUBLE) END"
    );
    let json = serde_json::to_string(&expr).unwrap();
    assert_eq!(serde_json::from_str::<ResolvedExpr>(&json).unwrap(), expr);
    assert_eq!(expr.inputs().into_iter().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn errors_name_function_and_value() {
    let check = |expr: ResolvedExpr, text: &str| {
        let evaluator = Evaluator::compile(&expr).unwrap();
        let error = evaluator
            .evaluate(&[], 1, &EvalContext::default())
            .unwrap_err();
        assert_eq!(error.code(), "function.runtime");
        assert_eq!(error.to_string(), text);
    };
    let one_by_zero =
        ResolvedExpr::call("/", [ResolvedExpr::literal(1), ResolvedExpr::literal(0)]).unwrap();
    check(one_by_zero, "/: division of 1 by zero");
    check(
        ResolvedExpr::literal("x1").cast(DataTypes::int()).unwrap(),
        "CAST: text 'x1' is not a value of type INT",
    );
    let error = ResolvedExpr::call(
        "AND",
        [ResolvedExpr::literal(1), ResolvedExpr::literal(true)],
    );
    let error = error.unwrap_err();
    assert_eq!(error.code(), "function.invalid_arguments");
    assert_eq!(
        error.hint().unwrap(),
        "Accepted: AND(BOOLEAN, BOOLEAN, BOOLEAN...)."
    );
    let read = Evaluator::compile(&ResolvedExpr::input(3, DataTypes::int())).unwrap();
    let error = read.evaluate(&[], 1, &EvalContext::default()).unwrap_err();
    assert_eq!(error.code(), "function.missing_input");
}

#[test]
fn no_rows_need_no_constant() {
    let failing = ResolvedExpr::call("/", [ResolvedExpr::literal(1), ResolvedExpr::literal(0)]);
    let evaluator = Evaluator::compile(&failing.unwrap()).unwrap();
    let result = evaluator.evaluate(&[], 0, &EvalContext::default()).unwrap();
    assert_eq!(
        (result.len(), result.data_type()),
        (0, &arrow_schema::DataType::Int32)
    );
}
