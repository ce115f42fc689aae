package dev.tollgate.migrations;

import java.sql.SQLException;

/** What the SQLStates of Tollgate, PostgreSQL and others mean for a run. */
final class DatabaseErrors {
  private static final String NO_CONNECTION = "08001";
  private static final String NO_ANSWER = "08007";
  private static final String CONNECTION = "08";
  private static final String AUTHORIZATION = "28";
  private static final String INVALID_SETTING = "22023";

  private DatabaseErrors() {}

  /** True if no node answered, as opposed to one that no longer knows the session. */
  static boolean isUnreachable(SQLException e) {
    return state(e).equals(NO_CONNECTION) || state(e).equals(NO_ANSWER);
  }

  /** True if a driver or a server refuses the URL of a connection or a property of it. */
  static boolean isOfSetting(SQLException e) {
    return state(e).equals(INVALID_SETTING);
  }

  static boolean isConnection(SQLException e) {
    return state(e).startsWith(CONNECTION);
  }

  /** A failure outside a script, such as one of the connection or of the history. */
  static MigrationException failure(String what, SQLException e) {
    MigrationException.Reason reason =
        state(e).startsWith(AUTHORIZATION)
            ? MigrationException.Reason.CREDENTIALS
            : isConnection(e)
                ? MigrationException.Reason.UNREACHABLE
                : MigrationException.Reason.DATABASE;
    return new MigrationException(reason, what + ": " + describe(e), e);
  }

  static String describe(SQLException e) {
    return "SQLSTATE " + state(e) + ": " + e.getMessage();
  }

  private static String state(SQLException e) {
    return e.getSQLState() == null ? "HY000" : e.getSQLState();
  }
}
