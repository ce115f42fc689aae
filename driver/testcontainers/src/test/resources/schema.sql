CREATE TABLE report(report_day DATE PRIMARY KEY, total DECIMAL(12, 2)) FENCED BY LOCK 'nightly';
