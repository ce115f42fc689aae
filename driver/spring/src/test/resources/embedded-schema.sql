CREATE TABLE made_by_script(id INT PRIMARY KEY);
