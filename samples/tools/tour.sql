CREATE SCHEMA IF NOT EXISTS tour;
SET SCHEMA tour;
CREATE TABLE IF NOT EXISTS city(id INT PRIMARY KEY, name VARCHAR(40) NOT NULL) FENCED BY LOCK 'cities';
SELECT acquire_lock('cities') AS token;
SELECT try_acquire_lock('cities') = lock_token('cities') AS same_token_again;
MERGE INTO city KEY(id) VALUES (1, 'Ulm'), (2, 'Köln');
SELECT id, name FROM city ORDER BY id;
!tables
!columns CITY
!primarykeys CITY
!indexes CITY
!describe CITY
SELECT lock_name, lock_mode FROM tollgate.locks ORDER BY lock_name;
SELECT release_lock('cities') AS released;
