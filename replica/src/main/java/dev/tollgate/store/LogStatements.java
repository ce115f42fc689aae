package dev.tollgate.store;

import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.limits.DefinitionConstants;
import dev.tollgate.store.limits.DefinitionRows;
import dev.tollgate.store.limits.ScanMeters;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateTable;
import org.h2.command.ddl.DefineCommand;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.jspecify.annotations.Nullable;

/** Prepares logged statements so that all replicas run them alike. */
final class LogStatements {
  private LogStatements() {}

  /**
   * A statement that is ready to run.
   *
   * @param found what it scans and computes
   * @param computed the query of what a definition computes for existing rows; null if it computes
   *     nothing
   * @param granted number of rows that this query may examine free of charge
   */
  record Ready(Prepared prepared, ScanMeters.Found found, @Nullable Query computed, long granted) {
    Ready(Prepared prepared, ScanMeters.Found found) {
      this(prepared, found, /* computed= */ null, /* granted= */ 0);
    }

    Ready(Prepared prepared) {
      this(prepared, ScanMeters.Found.NOTHING);
    }
  }

  /**
   * Prepares a statement and meters its scans.
   *
   * @throws org.h2.message.DbException if H2 refuses the statement, or replicas could choose
   *     different plans
   */
  static Ready prepare(SessionLocal session, String sql) {
    try {
      return prepareUnguarded(session, sql);
    } catch (RuntimeException e) {
      throw SqlErrors.ofPreparation(session, e);
    }
  }

  private static Ready prepareUnguarded(SessionLocal session, String sql) {
    // H2 keeps plans of views for ten seconds by the clock; they were made for other data
    session.clearViewIndexCache();
    H2Sessions.forgetDerivedTables(session);
    Prepared prepared = session.prepare(sql);
    if (H2Definitions.changesNothing(session, prepared)) {
      return new Ready(prepared);
    }
    if (prepared instanceof CreateTable definition) {
      if (H2Definitions.isThere(session, definition)) {
        // H2 refuses the definition without checking its query, which may be wrong too
        return new Ready(prepared);
      }
      H2Definitions.makePermanent(definition);
      Query rows = H2Statements.queryOf(definition);
      if (rows != null) {
        // H2 prepares the query when it runs the statement, and until then hides what views read
        rows.prepare();
      }
    }
    if (prepared instanceof DefineCommand) {
      DefinitionConstants.compute(session, prepared);
    }
    ScanMeters.Found found = ScanMeters.attach(session, prepared);
    String computed = DefinitionRows.queryOf(session, prepared);
    if (computed == null) {
      return new Ready(prepared, found);
    }
    Query query = (Query) session.prepare(computed);
    return new Ready(
        prepared,
        ScanMeters.attach(session, query).with(found),
        query,
        DefinitionRows.granted(session, prepared));
  }
}
