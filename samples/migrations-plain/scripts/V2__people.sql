-- a definition commits what was before it; the history counts each statement
UPDATE city SET name = 'Bern (Berne)' WHERE id = 3;
ALTER TABLE city ADD COLUMN people INT DEFAULT 0 NOT NULL;
UPDATE city SET people = 709000 WHERE id = 1;
UPDATE city SET people = 10092000 WHERE id = 2;
UPDATE city SET people = 134000 WHERE id = 3;
