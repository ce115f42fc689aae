package dev.tollgate.sql;

/** The kind of an object that a statement acts on. */
public enum ObjectKind {
  TABLE,
  VIEW,
  INDEX,
  SEQUENCE,
  /** The schema itself, as in DROP SCHEMA: its name is the name, and it has no schema. */
  SCHEMA,
  DOMAIN,
  CONSTANT,
  CONSTRAINT,
  /** A role, or who is granted something: its name is the name, and it has no schema. */
  ROLE
}
