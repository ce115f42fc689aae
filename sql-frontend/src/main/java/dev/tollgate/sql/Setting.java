package dev.tollgate.sql;

/** The settings that SET may change; each belongs to the session. */
public enum Setting {
  /**
   * SET SCHEMA: an {@link Argument.Text} with the name as H2 understands it, or an {@link
   * Argument.Parameter}. Code that executes the plan must check that the value of a parameter is
   * not a {@linkplain ObjectName#isReservedSchema reserved schema}.
   */
  SCHEMA,
  /**
   * SET LOCK_TIMEOUT: milliseconds, an {@link Argument.Integral} or an {@link Argument.Parameter}.
   */
  LOCK_TIMEOUT,
  /**
   * SET QUERY_TIMEOUT: milliseconds, an {@link Argument.Integral} or an {@link Argument.Parameter};
   * 0 means no limit.
   */
  QUERY_TIMEOUT,
  /** SET AUTOCOMMIT: an {@link Argument.Flag}. */
  AUTOCOMMIT,
  /**
   * SET [SESSION CHARACTERISTICS AS] TRANSACTION ISOLATION LEVEL: an {@link Argument.Text}, one of
   * READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SNAPSHOT and SERIALIZABLE.
   */
  ISOLATION,
  /**
   * SET TIME ZONE: an {@link Argument.Text} with the name or the offset, an {@link
   * Argument.Parameter}, or {@link Argument.Null} for LOCAL, the time zone of the server.
   */
  TIME_ZONE
}
