package dev.tollgate.sql;

/** How a write must be applied. */
public enum WriteKind {
  /** Changes rows, sequences or locks, within the session's transaction. */
  DML,
  /** Changes the schema, and commits the session's transaction first. */
  DDL
}
