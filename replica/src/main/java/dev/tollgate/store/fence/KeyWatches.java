package dev.tollgate.store.fence;

import dev.tollgate.core.command.SessionId;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.HiddenConstraint;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import org.h2.api.ErrorCode;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Compares the keys that a statement changes with those that open transactions have changed. H2
 * checks foreign keys against committed rows, and would let two transactions break one together.
 *
 * <p>Each table at an end of a foreign key has a hidden constraint. H2 asks it about each row that
 * was changed, on all routes, before it checks the foreign keys of the row.
 *
 * <p>Belongs to the apply thread.
 */
public final class KeyWatches {
  /** The open transactions besides that of the statement. */
  @FunctionalInterface
  public interface Others {
    /** The owner of the first transaction of which this is true, or null. */
    @Nullable SessionId first(Predicate<KeyChanges> condition);
  }

  private final Schema hidden;
  private int made;

  private @Nullable Others others;
  private @Nullable KeyChanges own;
  private @Nullable SessionId rival;
  private @Nullable SessionId releasing;

  public KeyWatches(H2Database database) {
    hidden = HiddenConstraint.hiddenSchema(database.h2(), "KEYS");
  }

  /**
   * Watches those of these tables, and of the tables that they refer to, that are at an end of a
   * foreign key, and the others no more; no query may run meanwhile.
   */
  public void follow(List<Table> tables) {
    for (Table table : HiddenConstraint.withParents(tables)) {
      Watch watch = null;
      boolean hasKeys = false;
      for (Constraint constraint : table.getConstraints()) {
        watch = constraint instanceof Watch found ? found : watch;
        hasKeys |= constraint instanceof ConstraintReferential;
      }
      if (hasKeys && watch == null) {
        made++;
        Watch added = new Watch("KEYS_" + made, table);
        hidden.add(added);
        table.addConstraint(added);
      } else if (!hasKeys && watch != null) {
        table.removeConstraint(watch);
        hidden.remove(watch);
      }
    }
  }

  /**
   * A statement begins.
   *
   * @param transaction what the transaction of the statement has done; null if it has none
   */
  public void begin(@Nullable KeyChanges transaction, Others open) {
    own = transaction;
    others = open;
    rival = null;
    releasing = null;
  }

  /** The statement has ended. */
  public void end() {
    own = null;
    others = null;
  }

  /**
   * The owner of the transaction at whose keys the statement has failed; null if it has failed for
   * another reason, or not at all.
   */
  public @Nullable SessionId rival() {
    return rival;
  }

  /**
   * The owner of a transaction in which a row no longer refers to a key that the statement removes;
   * null if there is none. H2 still sees the row.
   */
  public @Nullable SessionId releasing() {
    return releasing;
  }

  private final class Watch extends HiddenConstraint {
    Watch(String name, Table table) {
      super(hidden, name, table);
    }

    @Override
    protected Place place() {
      return Place.KEYS;
    }

    @Override
    public boolean isBefore() {
      return false;
    }

    @Override
    public void checkRow(
        SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
      Others open = others;
      if (open != null && (own != null || open.first(transaction -> true) != null)) {
        // H2 does the same work once more, and counts it
        Meter.uncounted(
            () -> {
              check(open, session, changed, before, after);
              return true;
            });
      }
    }
  }

  /** Also compares keys that H2 does not check at the moment: it may check them in a moment. */
  private void check(
      Others open, SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
    for (Constraint constraint : changed.getConstraints()) {
      if (constraint instanceof ConstraintReferential key) {
        if (key.getTable().equals(changed)) {
          checkReference(open, session, key, before, after);
        }
        if (before != null && key.getRefTable().equals(changed)) {
          checkReferenced(open, session, key, before, after);
        }
      }
    }
  }

  private void checkReference(
      Others open,
      SessionLocal session,
      ConstraintReferential key,
      @Nullable Row before,
      @Nullable Row after) {
    Value[] old = before == null ? null : KeyValues.referredToBy(before, key, session);
    Value[] now = after == null ? null : KeyValues.referredToBy(after, key, session);
    if (old != null && now != null && KeyValues.order(key, session).compare(old, now) == 0) {
      return;
    }
    if (now != null) {
      requireNone(open.first(other -> other.has(key, KeyChanges.Kind.REMOVED, now)), key);
      remember(key, KeyChanges.Kind.NEEDED, now, session);
    }
    if (old != null) {
      remember(key, KeyChanges.Kind.RELEASED, old, session);
    }
  }

  private void checkReferenced(
      Others open,
      SessionLocal session,
      ConstraintReferential key,
      Row before,
      @Nullable Row after) {
    Value[] old = KeyValues.of(before, key);
    Value[] now = after == null ? null : KeyValues.of(after, key);
    if (old == null || (now != null && KeyValues.order(key, session).compare(old, now) == 0)) {
      return;
    }
    requireNone(open.first(other -> other.has(key, KeyChanges.Kind.NEEDED, old)), key);
    if (releasing == null) {
      releasing = open.first(other -> other.has(key, KeyChanges.Kind.RELEASED, old));
    }
    remember(key, KeyChanges.Kind.REMOVED, old, session);
  }

  private void requireNone(@Nullable SessionId holder, ConstraintReferential key) {
    if (holder != null) {
      rival = holder;
      throw DbException.get(ErrorCode.CONCURRENT_UPDATE_1, key.getTable().getName());
    }
  }

  private void remember(
      ConstraintReferential key, KeyChanges.Kind kind, Value[] values, SessionLocal session) {
    KeyChanges transaction = own;
    if (transaction != null) {
      transaction.add(key, kind, values, session, H2Transactions.changes(session));
    }
  }

  /** The owner of an open transaction for which a definition of these tables has to wait. */
  public static @Nullable SessionId rivalOfDefinition(Others open, Collection<Table> tables) {
    return open.first(other -> other.blockDefinition(tables));
  }
}
