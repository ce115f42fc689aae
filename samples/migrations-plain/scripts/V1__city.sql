CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50) NOT NULL);
INSERT INTO city VALUES (1, 'Oslo'), (2, 'Lima'), (3, 'Bern');
