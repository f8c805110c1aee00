SELECT id + 1 AS a, CASE WHEN amount > 1 THEN 'big' ELSE 'small' END AS size FROM orders WHERE price BETWEEN 1 AND 2 AND 1 = 1;

SELECT * FROM events WHERE total > 3;

SELECT k FROM updates UNION ALL SELECT id FROM orders WHERE FALSE UNION ALL VALUES (1), (2);

WITH q AS (SELECT k, v FROM updates WHERE k > 1) SELECT a.v, b.v FROM q a JOIN q b ON a.k = b.k;
