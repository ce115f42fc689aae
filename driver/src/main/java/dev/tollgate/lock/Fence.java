package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The row of a lock in table tollgate_fence of a database that knows nothing of the lock. The row
 * has the highest token that has written under the lock.
 *
 * <p>A transaction that begins with {@link #raise} fails if a later holder of the lock has written.
 * It keeps the row locked, so a later holder waits until the transaction has ended. The row says
 * nothing about a holder that was granted the lock and has not written yet: until then, an earlier
 * holder still writes. Tollgate's own tables have no such gap.
 */
public final class Fence {
  public static final String TABLE = "tollgate_fence";

  private static final String COLUMNS = "(name VARCHAR(255) PRIMARY KEY, token BIGINT NOT NULL)";

  private static final Set<String> LOCKS_GAPS = Set.of("MySQL", "MariaDB");

  private final @Nullable String catalog;
  private final @Nullable String schema;
  private final String quote;
  private final boolean locksGaps;
  private final String lock;
  private final long token;

  /**
   * @param catalog where the database has catalogs in the place of schemas, as MariaDB does
   * @param schema null on a database without schemas
   * @param quote what stands around the name of the schema or catalog
   * @param locksGaps whether an update that finds no row keeps others from inserting it
   */
  private Fence(
      @Nullable String catalog,
      @Nullable String schema,
      String quote,
      boolean locksGaps,
      String lock,
      long token) {
    this.catalog = catalog;
    this.schema = schema;
    this.quote = requireNonNull(quote, "quote");
    this.locksGaps = locksGaps;
    this.lock = requireNonNull(lock, "lock");
    this.token = token;
  }

  /** The row of a lock in the schema that the connection has now. */
  public static Fence of(Connection connection, String lock, long token) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String schema = connection.getSchema();
    boolean hasCatalogs = schema == null && meta.supportsCatalogsInDataManipulation();
    return new Fence(
        hasCatalogs ? connection.getCatalog() : null,
        schema,
        meta.getIdentifierQuoteString(),
        LOCKS_GAPS.contains(meta.getDatabaseProductName()),
        lock,
        token);
  }

  /**
   * Begins a transaction of the holder of a lock: call it before anything else of the transaction.
   * If this returns, no later holder has written to the database, and none does before the
   * transaction ends. Call {@link HeldLock#assertHeld} right before the commit.
   *
   * <p>The first call makes the table. A database that commits at each definition, as H2, MySQL and
   * Oracle do, then commits what the transaction did before.
   *
   * @param connection of any database, in a transaction
   * @throws StaleTokenException if a later holder has written: roll back
   * @throws IllegalStateException if the connection is in autocommit, where the check would protect
   *     nothing
   */
  public static void guard(Connection connection, String lock, long token) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "the connection is in autocommit, where a check of token "
              + token
              + " ends before the next statement: call setAutoCommit(false) first");
    }
    of(connection, lock, token).create(connection);
  }

  /** As {@link #guard(Connection, String, long)}, under a lock that is held. */
  public static void guard(Connection connection, HeldLock lock) throws SQLException {
    lock.assertHeld();
    guard(connection, lock.name(), lock.token());
  }

  /**
   * Makes the table and the row unless they are there, and raises the row as {@link #raise} does;
   * others may do so at the same time.
   *
   * <p>No query precedes the update: at REPEATABLE READ, the default of MySQL and MariaDB, all
   * queries of a transaction read what was committed before its first one, so a holder that waited
   * for its predecessor would not read what that has written.
   *
   * @throws StaleTokenException if a later holder has written
   */
  public void create(Connection connection) throws SQLException {
    if (!tableExists(connection)) {
      attempt(connection, "CREATE TABLE " + qualified() + COLUMNS, this::tableExists);
    }
    if (locksGaps) {
      raiseOrInsert(connection);
    } else if (!isRaised(connection)) {
      attempt(
          connection,
          "INSERT INTO " + qualified() + "(name, token) VALUES (?, ?)",
          this::isRaisedOrStale,
          lock,
          token);
    }
  }

  /**
   * Raises the row to the token, which waits for a transaction of another holder that is still
   * open. In autocommit this is a check and no more: nothing keeps later holders waiting.
   *
   * @throws StaleTokenException if a later holder has written, or the row is gone
   */
  public void raise(Connection connection) throws SQLException {
    if (!isRaised(connection)) {
      throw new StaleTokenException(lock, token);
    }
  }

  /**
   * Where an update that finds no row locks the gap, two first holders would each wait for the gap
   * of the other, and the database would roll one back.
   */
  private void raiseOrInsert(Connection connection) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO "
                + qualified()
                + "(name, token) VALUES (?, ?)"
                + " ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token))")) {
      insert.setString(1, lock);
      insert.setLong(2, token);
      insert.executeUpdate();
    }
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT token FROM " + qualified() + " WHERE name = ? FOR UPDATE")) {
      query.setString(1, lock);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next() || row.getLong(1) != token) {
          throw new StaleTokenException(lock, token);
        }
      }
    }
  }

  private boolean isRaised(Connection connection) throws SQLException {
    try (PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE " + qualified() + " SET token = ? WHERE name = ? AND token <= ?")) {
      raise.setLong(1, token);
      raise.setString(2, lock);
      raise.setLong(3, token);
      return raise.executeUpdate() > 0;
    }
  }

  private boolean isRaisedOrStale(Connection connection) throws SQLException {
    if (isRaised(connection)) {
      return true;
    }
    if (rowExists(connection)) {
      throw new StaleTokenException(lock, token);
    }
    return false;
  }

  /** Whether another program has done it. */
  private interface Done {
    boolean isDone(Connection connection) throws SQLException;
  }

  /**
   * A failed statement ends the transaction in some databases, unless it goes back to a savepoint.
   * Those in which a definition commits are not among them, and have no savepoint afterwards.
   */
  private static void attempt(Connection connection, String sql, Done done, Object... parameters)
      throws SQLException {
    boolean savepoint =
        !connection.getAutoCommit()
            && !connection.getMetaData().dataDefinitionCausesTransactionCommit();
    Savepoint before = savepoint ? connection.setSavepoint() : null;
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      statement.executeUpdate();
    } catch (SQLException e) {
      if (before != null) {
        connection.rollback(before);
      }
      if (!done.isDone(connection)) {
        throw e;
      }
    }
  }

  private boolean rowExists(Connection connection) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT token FROM " + qualified() + " WHERE name = ?")) {
      query.setString(1, lock);
      try (ResultSet row = query.executeQuery()) {
        return row.next();
      }
    }
  }

  private boolean tableExists(Connection connection) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String stored = meta.storesUpperCaseIdentifiers() ? TABLE.toUpperCase(Locale.ROOT) : TABLE;
    try (ResultSet tables =
        meta.getTables(
            catalog == null ? connection.getCatalog() : catalog,
            schema == null ? null : escaped(meta, schema),
            escaped(meta, stored),
            null)) {
      return tables.next();
    }
  }

  private static String escaped(DatabaseMetaData meta, String name) throws SQLException {
    String escape = meta.getSearchStringEscape();
    return name.replace(escape, escape + escape)
        .replace("_", escape + "_")
        .replace("%", escape + "%");
  }

  private String qualified() {
    String qualifier = schema == null ? catalog : schema;
    return qualifier == null
        ? TABLE
        : quote + qualifier.replace(quote, quote + quote) + quote + "." + TABLE;
  }
}
