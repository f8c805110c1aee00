SELECT o.id, c.country FROM orders o JOIN customers c ON o.customer = c.name WHERE o.amount > 1 AND c.country <> 'x';

SELECT o.id, u.v FROM orders o LEFT JOIN updates u ON o.id = u.v AND o.amount < u.k;

SELECT a.k FROM updates a JOIN updates b ON a.k = b.k JOIN orders c ON b.v = c.id + 1;

SELECT a.id FROM orders a, orders b WHERE a.id IS NOT DISTINCT FROM b.amount;

SELECT a.k FROM updates a CROSS JOIN updates b;
