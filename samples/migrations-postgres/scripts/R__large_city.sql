-- runs again whenever it has changed
CREATE OR REPLACE VIEW large_city AS SELECT name, millions(people) FROM city WHERE people > 500000;
