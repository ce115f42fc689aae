package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import org.h2.command.Prepared;
import org.h2.engine.SessionLocal;
import org.h2.result.ResultInterface;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.HasSQL;

/**
 * Keeps a column of texts from becoming a column of numbers while one of the texts is too long a
 * number. H2 converts all rows in an internal statement, which {@link NumberGuard} does not reach.
 */
final class NumberDefinitions {
  private NumberDefinitions() {}

  /**
   * Checks a definition that is about to run.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void check(SessionLocal session, Prepared definition) {
    Column before = H2Definitions.alteredColumn(definition);
    Column after = H2Definitions.changedColumn(definition);
    Table table = H2Definitions.alteredTable(session, definition);
    if (before == null
        || after == null
        || table == null
        || !NumberGuard.hasNumber(after.getType())
        || !GeometryText.hasText(before.getType())) {
      return;
    }
    String texts =
        "SELECT "
            + before.getSQL(HasSQL.QUOTE_ONLY_WHEN_REQUIRED)
            + " FROM "
            + table.getSQL(HasSQL.QUOTE_ONLY_WHEN_REQUIRED);
    long cost = 0;
    try (ResultInterface rows = session.prepare(texts).query(0)) {
      while (rows.next()) {
        cost += NumberText.cost(rows.currentRow()[0], () -> true);
        if (cost > Limits.STATEMENT_WRITTEN_BYTES) {
          throw Exhausted.work(
              "the definition was refused and changed nothing, because the texts of column "
                  + before.getName()
                  + " have so many digits that all replicas would stand still: make the numbers"
                  + " with UPDATE in a new column, some rows at a time");
        }
      }
    }
  }
}
