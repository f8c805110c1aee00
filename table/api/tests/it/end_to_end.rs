//! One program through all layers.

use aquifer_table::StreamTableEnvironment;
use serde::{Deserialize, Serialize};

use crate::support::{answer, collect, with_all_shapes};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    id: i64,
    customer: String,
    price: Option<f64>,
}

fn order(id: i64, customer: &str, price: Option<f64>) -> Order {
    Order {
        id,
        customer: customer.to_string(),
        price,
    }
}

fn orders(t_env: &StreamTableEnvironment) {
    let orders = [
        order(1, "ann", Some(10.0)),
        order(2, "bob", Some(2.5)),
        order(3, "ann", None),
        order(4, "cid", Some(7.0)),
        order(5, "bob", Some(1.5)),
    ];
    let stream = t_env.stream_environment().from_elements(orders);
    t_env
        .create_temporary_view_from_stream("orders", &stream)
        .unwrap();
    let cities = [
        ("ann".to_string(), "Bonn".to_string()),
        ("bob".to_string(), "Rome".to_string()),
    ];
    let stream = t_env.stream_environment().from_elements(cities);
    t_env
        .register_data_stream_as("cities", &stream, "name, city")
        .unwrap();
}

#[test]
fn sql_end_to_end() {
    with_all_shapes(|t_env| {
        orders(t_env);
        let filtered = t_env
            .sql_query("SELECT id * 10 AS big, customer FROM orders WHERE price > 2")
            .unwrap();
        assert_eq!(
            answer(&filtered),
            ["+I[10, ann]", "+I[20, bob]", "+I[40, cid]"]
        );
        let mut rows: Vec<(i64, String)> = collect(&t_env.to_append_stream(&filtered).unwrap());
        rows.sort();
        assert_eq!(rows[0], (10, "ann".to_string()));

        let joined = t_env
            .sql_query(
                "SELECT o.id, o.price, c.city FROM orders AS o LEFT JOIN cities AS c ON o.customer = c.name \
                 WHERE o.id <> 5",
            )
            .unwrap();
        let expected = [
            "+I[1, 10.0, Bonn]",
            "+I[2, 2.5, Rome]",
            "+I[3, null, Bonn]",
            "+I[4, 7.0, null]",
        ];
        assert_eq!(answer(&joined), expected);
        let error = t_env.to_data_stream(&joined).err().unwrap();
        assert_eq!(error.code(), "validation.updates_not_accepted");

        let totals = t_env
            .sql_query(
                "SELECT c.city, COUNT(*) AS orders, SUM(o.price) AS total \
                 FROM orders AS o LEFT JOIN cities AS c ON o.customer = c.name \
                 GROUP BY c.city HAVING COUNT(*) > 0",
            )
            .unwrap();
        assert_eq!(
            answer(&totals),
            ["+I[Bonn, 2, 10.0]", "+I[Rome, 2, 4.0]", "+I[null, 1, 7.0]"]
        );
        let retract = t_env
            .to_retract_stream::<(Option<String>, i64, Option<f64>)>(&totals)
            .unwrap();
        let balance: i64 = collect(&retract)
            .iter()
            .map(|(add, _)| if *add { 1 } else { -1 })
            .sum();
        assert_eq!(balance, 3);
        let counts = t_env
            .sql_query("SELECT customer, COUNT(*) FROM orders GROUP BY customer")
            .unwrap();
        let error = t_env
            .to_append_stream::<(String, i64)>(&counts)
            .err()
            .unwrap();
        assert_eq!(error.code(), "validation.updates_not_accepted");
        assert!(error.report().contains("GROUP BY"), "{error:?}");
    });
}
