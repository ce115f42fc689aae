package dev.tollgate.store;

import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.limits.DefinitionRows;
import dev.tollgate.store.limits.PreparationMeter;
import dev.tollgate.store.limits.ScanMeters;
import java.util.Set;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateTable;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/** Prepares statements of the log, so that all replicas do the same with them. */
final class LogStatements {
  /**
   * Tables of one join. H2 looks for the best order of more by trying, and ends the search by the
   * clock: it first asks the clock after 128 orders, and five tables have 120 (docs/adr/0014).
   */
  static final int MAX_JOINED_TABLES = 5;

  private LogStatements() {}

  /**
   * A statement that may run.
   *
   * @param read the tables that it scans
   * @param geometry whether something in it is a GEOMETRY
   * @param computed what a definition computes for the rows that are there; null if it is nothing
   * @param granted rows that it may look at for nothing
   */
  record Ready(
      Prepared prepared,
      Set<Table> read,
      boolean geometry,
      @Nullable Query computed,
      long granted) {
    Ready(Prepared prepared) {
      this(prepared, Set.of(), /* geometry= */ false, /* computed= */ null, /* granted= */ 0);
    }
  }

  /**
   * Prepares a statement and meters its scans.
   *
   * @throws org.h2.message.DbException if H2 refuses it, or replicas could choose different plans
   */
  static Ready prepare(SessionLocal session, String sql) {
    try {
      return PreparationMeter.watch(session, () -> prepareUnguarded(session, sql));
    } catch (RuntimeException e) {
      throw SqlErrors.ofPreparation(session, e);
    }
  }

  private static Ready prepareUnguarded(SessionLocal session, String sql) {
    // plans of views are kept for ten seconds by the clock, and were made for other data
    session.clearViewIndexCache();
    H2Sessions.forgetDerivedTables(session);
    Prepared prepared = session.prepare(sql);
    if (H2Definitions.changesNothing(session, prepared)) {
      return new Ready(prepared);
    }
    if (prepared instanceof CreateTable definition) {
      if (H2Definitions.isThere(session, definition)) {
        // H2 refuses it without a look at its query, which may be wrong too
        return new Ready(prepared);
      }
      H2Definitions.makePermanent(definition);
      Query rows = H2Statements.queryOf(definition);
      if (rows != null) {
        // H2 does so when it runs the statement, and before that it does not show what views read
        rows.prepare();
      }
    }
    ScanMeters.Found found = attach(session, prepared);
    String computed = DefinitionRows.queryOf(session, prepared);
    if (computed == null) {
      return new Ready(
          prepared, found.tables(), found.geometry(), /* computed= */ null, /* granted= */ 0);
    }
    Query query = (Query) session.prepare(computed);
    Set<Table> read = attach(session, query).tables();
    return new Ready(
        prepared, read, found.geometry(), query, DefinitionRows.granted(session, prepared));
  }

  static ScanMeters.Found attach(SessionLocal session, Prepared prepared) {
    ScanMeters.Found found = ScanMeters.attach(session, prepared);
    int joined = found.widestJoin();
    if (joined > MAX_JOINED_TABLES) {
      throw Exhausted.work(
          "a statement that changes something may join at most "
              + MAX_JOINED_TABLES
              + " tables at a time, not "
              + joined
              + ", because the order of more is chosen by the clock of each replica. Join some of"
              + " them in a derived table: FROM (SELECT ...) AS d JOIN ...");
    }
    return found;
  }
}
