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
     * Gives counters to those of these tables, and of the tables that they refer to, to which a
     * foreign key with an action refers, and takes counters from the others; no query may run
     * meanwhile.
     */
    public void follow(List<Table> tables) {
      for (Table table : HiddenConstraint.withParents(tables)) {
        List<ActionDepth> counters = new ArrayList<>();
        boolean reached = false;
        for (Constraint constraint : table.getConstraints()) {
          if (constraint instanceof ActionDepth counter) {
            counters.add(counter);
          }
          reached |=
              constraint instanceof ConstraintReferential key
                  && key.getRefTable().equals(table)
                  && acts(key);
        }
        if (reached && counters.isEmpty()) {
          add(table, /* begins= */ true);
          add(table, /* begins= */ false);
        } else if (!reached) {
          for (ActionDepth counter : counters) {
            table.removeConstraint(counter);
            hidden.remove(counter);
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

    private void add(Table table, boolean begins) {
      made++;
      ActionDepth counter = new ActionDepth(hidden, made, table, begins);
      hidden.add(counter);
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
