package dev.tollgate.sql.tree;

/**
 * The kinds of objects that a DDL statement may act on. The names are those of {@code
 * dev.tollgate.sql.ObjectKind}.
 */
public enum ObjectClass {
  TABLE,
  VIEW,
  INDEX,
  SEQUENCE,
  SCHEMA,
  DOMAIN,
  CONSTANT,
  CONSTRAINT,
  ROLE
}
