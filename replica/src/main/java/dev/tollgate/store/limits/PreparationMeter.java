package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.function.Supplier;
import org.h2.engine.SessionLocal;

/**
 * Limits what H2 computes while it prepares a statement: H2 casts constants to domains, and checks
 * the rules of the domains. The front-end has bounded all other constants.
 */
public final class PreparationMeter implements StatementMeter {
  private long rows;

  private PreparationMeter() {}

  /**
   * Runs a preparation with a meter.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if too much is computed
   */
  public static <T> T watch(SessionLocal session, Supplier<T> preparation) {
    return StoreCommand.watched(session, new PreparationMeter(), preparation);
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
