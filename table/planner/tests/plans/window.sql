SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;

SELECT id, window_end, SUM(total) FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '60' SECOND)) WHERE id > 1 GROUP BY id, window_start, window_end;

SELECT ts, window_start FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE total > 2;

SELECT window_start, window_end, MAX(n) FROM (SELECT id, window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY id, window_start, window_end) GROUP BY window_start, window_end;
