SELECT customer, COUNT(*) AS n, SUM(amount) FILTER (WHERE price > 1) AS s, COUNT(DISTINCT id) FROM orders WHERE amount > 0 GROUP BY customer HAVING COUNT(*) > 1;

SELECT COUNT(*) FROM orders;

SELECT n, COUNT(*) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) GROUP BY n;

SELECT DISTINCT k FROM updates WHERE k > 1;

SELECT amount + 1 AS k, MAX(price) FROM orders GROUP BY amount + 1;
