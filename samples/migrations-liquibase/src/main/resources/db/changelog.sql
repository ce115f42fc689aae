--liquibase formatted sql

--changeset shop:customers
CREATE TABLE customer(id INT PRIMARY KEY, name VARCHAR(100) NOT NULL);
INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob');
CREATE INDEX customer_name ON customer(name);
--rollback DROP TABLE customer;

--changeset shop:orders
CREATE TABLE orders(id INT PRIMARY KEY, customer_id INT NOT NULL REFERENCES customer(id));
CREATE TABLE order_line(order_id INT REFERENCES orders(id), item VARCHAR(100), pieces INT);
CREATE TABLE shipment(id INT PRIMARY KEY, order_id INT REFERENCES orders(id), sent DATE);
CREATE TABLE invoice(id INT PRIMARY KEY, order_id INT REFERENCES orders(id), total DECIMAL(12, 2));
CREATE INDEX order_customer ON orders(customer_id);
CREATE INDEX line_item ON order_line(item);
CREATE INDEX shipment_sent ON shipment(sent);
CREATE INDEX invoice_total ON invoice(total);
INSERT INTO orders VALUES (1, 1);
INSERT INTO order_line VALUES (1, 'lamp', 2);
--rollback DROP TABLE invoice;
--rollback DROP TABLE shipment;
--rollback DROP TABLE order_line;
--rollback DROP TABLE orders;

--changeset shop:paid
ALTER TABLE orders ADD COLUMN paid BOOLEAN DEFAULT FALSE;
UPDATE orders SET paid = TRUE WHERE id = 1;
--rollback ALTER TABLE orders DROP COLUMN paid;
