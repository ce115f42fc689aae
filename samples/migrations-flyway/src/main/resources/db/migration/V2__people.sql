ALTER TABLE city ADD COLUMN people INT;
UPDATE city SET people = 700000 WHERE id = 1;
