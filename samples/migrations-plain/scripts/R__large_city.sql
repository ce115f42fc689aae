-- runs again whenever it has changed
CREATE OR REPLACE VIEW large_city AS SELECT name, people FROM city WHERE people > 500000;
