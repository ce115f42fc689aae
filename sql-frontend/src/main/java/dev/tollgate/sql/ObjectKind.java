package dev.tollgate.sql;

/** The kind of an object that a statement acts on. */
public enum ObjectKind {
  TABLE,
  VIEW,
  INDEX,
  SEQUENCE,
  /** The schema itself, as in DROP SCHEMA. The object name is its name, without a schema. */
  SCHEMA,
  DOMAIN,
  CONSTANT,
  CONSTRAINT,
  /** A role, or another grantee. The object name is its name, without a schema. */
  ROLE
}
