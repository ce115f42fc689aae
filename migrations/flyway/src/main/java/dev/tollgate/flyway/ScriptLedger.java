package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.LedgerUnit;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.StatementLedger;
import java.sql.Connection;
import java.sql.SQLException;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;

/**
 * The count of statements that are done, of scripts that the history does not have yet. Flyway
 * knows of a script only when it is at its end.
 */
final class ScriptLedger {
  /** As long as the names of tables may be. */
  private static final int NAME_CHARACTERS = 63;

  private static final String SUFFIX = "_progress";

  private final StatementLedger ledger;

  /** The script that has come to its end, and that the history does not have yet. */
  private @Nullable LedgerUnit ended;

  private ScriptLedger(StatementLedger ledger) {
    this.ledger = requireNonNull(ledger, "ledger");
  }

  /**
   * The ledger beside a history; makes its table unless it is there.
   *
   * @param session without an open transaction, and fenced by the lock
   * @param schema of the history
   * @param history the name of its table
   */
  static ScriptLedger prepare(
      Connection session, MigrationLock lock, String schema, String history) {
    try {
      String current = session.getSchema();
      session.setSchema(schema);
      StatementLedger ledger = StatementLedger.of(session, lock, table(history));
      ledger.prepare();
      session.setSchema(current);
      return new ScriptLedger(ledger);
    } catch (SQLException e) {
      throw new FlywayException("the ledger of statements was not made: " + e.getMessage(), e);
    } catch (MigrationException e) {
      throw refused(e);
    }
  }

  private static String table(String history) {
    String name = history.replaceAll("[^A-Za-z0-9_]", "_");
    int longest = NAME_CHARACTERS - SUFFIX.length();
    return (name.length() <= longest ? name : name.substring(0, longest)) + SUFFIX;
  }

  /**
   * Begins a script, or goes on with it.
   *
   * @param key the same for a script whose text was corrected
   */
  LedgerUnit begin(String key) throws SQLException, MigrationException {
    ended = null;
    return ledger.begin(key);
  }

  void scriptEnded(LedgerUnit script) {
    ended = script;
  }

  /** Forgets the script that has ended, in the transaction in which the history gets its row. */
  void historyIsWritten() {
    if (ended == null) {
      return;
    }
    try {
      ended.finish();
      ended = null;
    } catch (SQLException e) {
      throw new FlywayException("the ledger of statements was not written: " + e.getMessage(), e);
    } catch (MigrationException e) {
      throw refused(e);
    }
  }

  /** Flyway records that the script has failed, although nothing of it was run. */
  static FlywayException refused(MigrationException e) {
    return new FlywayException(
        e.getMessage() + "\nFlyway's repair comes before the next migrate", e);
  }
}
