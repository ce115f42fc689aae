package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.statement.StoreCommand;
import java.util.ArrayList;
import java.util.List;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintActionType;
import org.h2.constraint.ConstraintReferential;
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
    private final Schema hidden;
    private int made;

    public Counters(H2Database database) {
      hidden = hiddenSchema(database.h2(), "ACTIONS");
    }

    /**
     * Adds counters for the foreign keys of these tables, if they have none; no query may run
     * meanwhile.
     */
    public void follow(List<Table> tables) {
      for (Table table : tables) {
        List<Constraint> constraints = new ArrayList<>();
        table.getConstraints().forEach(constraints::add);
        for (Constraint constraint : constraints) {
          if (constraint instanceof ConstraintReferential key && acts(key)) {
            count(key.getRefTable());
          }
        }
      }
    }

    private static boolean acts(ConstraintReferential key) {
      return acts(key.getDeleteAction()) || acts(key.getUpdateAction());
    }

    private static boolean acts(@Nullable ConstraintActionType action) {
      return action != null && !action.isNoActionOrRestrict();
    }

    private void count(Table table) {
      List<Constraint> constraints = new ArrayList<>();
      table.getConstraints().forEach(constraints::add);
      if (areCounted(constraints)) {
        return;
      }
      constraints.forEach(table::removeConstraint);
      for (Constraint old : List.copyOf(constraints)) {
        if (old instanceof ActionDepth) {
          hidden.remove(old);
          constraints.remove(old);
        }
      }
      table.addConstraint(counter(table, /* begins= */ true));
      constraints.forEach(table::addConstraint);
      table.addConstraint(counter(table, /* begins= */ false));
    }

    /** Returns whether all foreign keys act between two counters. */
    private static boolean areCounted(List<Constraint> constraints) {
      for (int i = constraints.size() - 1; i >= 0; i--) {
        if (constraints.get(i) instanceof ActionDepth) {
          return true;
        }
        if (constraints.get(i) instanceof ConstraintReferential) {
          return false;
        }
      }
      return false;
    }

    private ActionDepth counter(Table table, boolean begins) {
      made++;
      ActionDepth counter = new ActionDepth(hidden, made, table, begins);
      hidden.add(counter);
      return counter;
    }
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
