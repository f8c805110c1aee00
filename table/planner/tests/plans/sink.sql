INSERT INTO append_sink SELECT id, customer FROM orders WHERE id > 1;

INSERT INTO upsert_sink SELECT customer, COUNT(*) FROM orders GROUP BY customer;

INSERT INTO upsert_sink (n, word) SELECT amount, 'x' FROM orders;

EXECUTE STATEMENT SET BEGIN
  INSERT INTO append_sink SELECT id, customer FROM big JOIN orders USING (id);
  INSERT INTO upsert_sink SELECT customer, COUNT(*) FROM orders GROUP BY customer;
  INSERT INTO append_sink SELECT amount, UPPER_CUSTOMER FROM (SELECT amount, customer AS UPPER_CUSTOMER FROM orders WHERE price > 1);
END;
