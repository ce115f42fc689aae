package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.statement.StoreCommand;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintActionType;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * Counts how deep the actions of foreign keys go. A table that a foreign key with an action refers
 * to has two of these constraints, one before all others and one after them. H2 checks both for
 * every row that was changed. The foreign keys act between the two checks.
 */
public final class ActionDepth extends HiddenConstraint {
  private final boolean begins;

  private ActionDepth(Schema hidden, int id, Table table, boolean begins) {
    super(hidden, "ACTIONS_" + id, table);
    this.begins = begins;
  }

  /** Adds counters for the actions of all foreign keys of a database. */
  public static final class Counters {
    private final Database database;
    private final Schema hidden;
    private final List<ActionDepth> counters = new ArrayList<>();
    private int made;

    public Counters(H2Database database) {
      this.database = database.h2();
      hidden = hiddenSchema(this.database, "ACTIONS");
    }

    /**
     * Gives counters to the tables that foreign keys with actions refer to, and takes them from the
     * others; no query may run meanwhile.
     */
    public void follow() {
      Set<Table> reached = new LinkedHashSet<>();
      for (Schema schema : database.getAllSchemasNoMeta()) {
        for (Constraint constraint : schema.getAllConstraints()) {
          if (constraint instanceof ConstraintReferential key && acts(key)) {
            reached.add(key.getRefTable());
          }
        }
      }
      // H2 drops counters with their table
      counters.removeIf(counter -> !counter.isValid());
      for (ActionDepth counter : List.copyOf(counters)) {
        if (!reached.contains(counter.getTable())) {
          counter.getTable().removeConstraint(counter);
          hidden.remove(counter);
          counters.remove(counter);
        }
      }
      counters.forEach(counter -> reached.remove(counter.getTable()));
      for (Table table : reached) {
        add(table, /* begins= */ true);
        add(table, /* begins= */ false);
      }
    }

    private static boolean acts(ConstraintReferential key) {
      return acts(key.getDeleteAction()) || acts(key.getUpdateAction());
    }

    private static boolean acts(@Nullable ConstraintActionType action) {
      return action != null && !action.isNoActionOrRestrict();
    }

    private void add(Table table, boolean begins) {
      made++;
      ActionDepth counter = new ActionDepth(hidden, made, table, begins);
      hidden.add(counter);
      counters.add(counter);
      table.addConstraint(counter);
    }
  }

  @Override
  protected Place place() {
    return begins ? Place.FIRST : Place.ACTIONS;
  }

  @Override
  public boolean isBefore() {
    return false;
  }

  @Override
  public void checkRow(
      SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
    if (before != null && session.getCurrentCommand() instanceof StoreCommand statement) {
      if (begins) {
        statement.enterActions();
      } else {
        statement.leaveActions();
      }
    }
  }
}
