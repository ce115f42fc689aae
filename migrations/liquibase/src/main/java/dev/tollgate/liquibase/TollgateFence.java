package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.FencedSession;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.StatementLedger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import liquibase.database.Database;

/**
 * Tollgate refuses a former holder itself: the session is fenced by the lock, and so is table
 * DATABASECHANGELOG, for all clients.
 */
final class TollgateFence implements HeldLock.Fence {
  /** The session of a killed run keeps its rows locked for up to 60 s by default. */
  private static final Duration ROW_WAIT = Duration.ofSeconds(90);

  private final Connection connection;
  private final StatementLedger ledger;
  private final long rowWaitMillis;

  private TollgateFence(Connection connection, StatementLedger ledger, long rowWaitMillis) {
    this.connection = requireNonNull(connection, "connection");
    this.ledger = requireNonNull(ledger, "ledger");
    this.rowWaitMillis = rowWaitMillis;
  }

  static TollgateFence putUp(Database database, MigrationLock lock)
      throws SQLException, MigrationException {
    Connection connection = Jdbc.connection(database);
    StatementLedger ledger = ledger(database, connection, lock);
    TollgateFence fence = new TollgateFence(connection, ledger, rowWaitMillis(connection));
    FencedSession.fence(connection, lock);
    try {
      setRowWait(connection, ROW_WAIT.toMillis());
      fenceChangeLog(database, connection, lock);
      ledger.prepare();
    } catch (SQLException e) {
      fence.takeDown();
      throw e;
    }
    return fence;
  }

  /** Beside table DATABASECHANGELOG, whichever schema the change sets work in. */
  private static StatementLedger ledger(
      Database database, Connection connection, MigrationLock lock)
      throws SQLException, MigrationException {
    String before = connection.getSchema();
    connection.setSchema(database.getLiquibaseSchemaName());
    try {
      return StatementLedger.of(connection, lock, ledgerTable(database));
    } finally {
      connection.setSchema(before);
    }
  }

  /** The change sets, and rollbacks, that an earlier run has done in part. */
  static List<String> underWay(Database database) throws SQLException {
    Connection connection = Jdbc.connection(database);
    String before = connection.getSchema();
    connection.setSchema(database.getLiquibaseSchemaName());
    try {
      return StatementLedger.underWay(connection, ledgerTable(database));
    } finally {
      connection.setSchema(before);
    }
  }

  /** Each change log has a lock of its own, and so it has a ledger of its own. */
  static String ledgerTable(Database database) {
    return database.getDatabaseChangeLogTableName() + "_STATEMENTS";
  }

  private static long rowWaitMillis(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT LOCK_TIMEOUT()")) {
      row.next();
      return row.getLong(1);
    }
  }

  private static void setRowWait(Connection connection, long millis) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET LOCK_TIMEOUT " + millis);
    }
  }

  /** A change log of runs without this extension is not fenced yet. */
  private static void fenceChangeLog(Database database, Connection connection, MigrationLock lock)
      throws SQLException {
    if (!hasChangeLog(database, connection)
        || fenceOfChangeLog(database, connection).equals(Optional.of(lock.name()))) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "ALTER TABLE "
              + database.escapeTableName(
                  database.getLiquibaseCatalogName(),
                  database.getLiquibaseSchemaName(),
                  database.getDatabaseChangeLogTableName())
              + MigrationLock.fenceClause(lock.name()));
    }
  }

  private static boolean hasChangeLog(Database database, Connection connection)
      throws SQLException {
    return ask(database, connection, "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES")
        .isPresent();
  }

  private static Optional<String> fenceOfChangeLog(Database database, Connection connection)
      throws SQLException {
    return ask(database, connection, "SELECT LOCK_NAME FROM TOLLGATE.FENCES");
  }

  private static Optional<String> ask(Database database, Connection connection, String select)
      throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            select + " WHERE TABLE_SCHEMA = ? AND UPPER(TABLE_NAME) = UPPER(?)")) {
      query.setString(1, database.getLiquibaseSchemaName());
      query.setString(2, database.getDatabaseChangeLogTableName());
      try (ResultSet row = query.executeQuery()) {
        return row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty();
      }
    }
  }

  @Override
  public void takeDown() throws SQLException {
    FencedSession.release(connection);
    setRowWait(connection, rowWaitMillis);
  }

  @Override
  public Optional<StatementLedger> ledger() {
    return Optional.of(ledger);
  }
}
