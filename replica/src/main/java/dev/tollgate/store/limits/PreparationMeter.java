package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.function.Supplier;
import org.h2.engine.Constants;
import org.h2.engine.SessionLocal;
import org.h2.table.Table;

/**
 * Limits what H2 computes while it prepares a statement: H2 casts constants to domains, and checks
 * the rules of the domains. The front-end has bounded all other constants.
 */
public final class PreparationMeter implements StatementMeter {
  private long rows;

  private PreparationMeter() {}

  /**
   * Runs the preparation of a statement with a meter.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if too much is computed, or the
   *     asterisks of the statement stand for too many columns
   */
  public static <T> T watch(SessionLocal session, String sql, Supplier<T> preparation) {
    requireFewColumns(session, sql);
    return StoreCommand.watched(session, new PreparationMeter(), preparation);
  }

  /** H2 makes an object of each column that an asterisk stands for. */
  private static void requireFewColumns(SessionLocal session, String sql) {
    long asterisks = asterisksIn(sql);
    if (asterisks * Constants.MAX_COLUMNS <= Limits.COLUMNS_OF_ASTERISKS) {
      return;
    }
    int widest = 0;
    for (Table table : session.getDatabase().getAllTablesAndViews()) {
      widest = Math.max(widest, table.getColumns().length);
    }
    if (asterisks * widest > Limits.COLUMNS_OF_ASTERISKS) {
      throw Exhausted.work(
          "the statement was refused and changed nothing, because its "
              + asterisks
              + " asterisks may stand for "
              + asterisks * widest
              + " columns, and "
              + Limits.COLUMNS_OF_ASTERISKS
              + " are allowed: name the columns");
    }
  }

  /** Counts those of products and comments too, but not those in literals and quoted names. */
  private static long asterisksIn(String sql) {
    long asterisks = 0;
    char quote = 0;
    for (int i = 0; i < sql.length(); i++) {
      char c = sql.charAt(i);
      if (quote != 0) {
        quote = c == quote ? 0 : quote;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '*') {
        asterisks++;
      }
    }
    return asterisks;
  }

  @Override
  public void looked(int more) {
    rows += more;
    if (rows > Limits.PREPARATION_ROWS) {
      throw Exhausted.work(
          "the statement was refused and changed nothing, because the constants that it casts to"
              + " domains take too many steps in the rules of these domains: use shorter constants,"
              + " or make the rules cheaper");
    }
  }
}
