package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import org.h2.command.dml.SetClauseList;
import org.h2.command.dml.Update;
import org.h2.table.Column;

/** The columns of a table to which an UPDATE gives values. */
public final class H2Targets {
  private static final VarHandle SET_CLAUSES =
      H2Fields.field(Update.class, "setClauseList", SetClauseList.class);
  private static final VarHandle SET_ACTIONS =
      H2Fields.field(SetClauseList.class, "actions", actions());

  private H2Targets() {}

  private static Class<?> actions() {
    try {
      return Class.forName(
              "org.h2.command.dml.SetClauseList$UpdateAction",
              /* initialize= */ false,
              SetClauseList.class.getClassLoader())
          .arrayType();
    } catch (ReflectiveOperationException e) {
      throw H2Fields.moved(e);
    }
  }

  /** True if an UPDATE gives this column of its table a value. */
  public static boolean sets(Update update, Column column) {
    Object actions = SET_ACTIONS.get((SetClauseList) SET_CLAUSES.get(update));
    return ((Object[]) actions)[column.getColumnId()] != null;
  }
}
