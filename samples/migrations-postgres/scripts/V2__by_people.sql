-- PostgreSQL does not build this index in a transaction
-- tollgate: transaction=off
CREATE INDEX CONCURRENTLY by_people ON city(people);
