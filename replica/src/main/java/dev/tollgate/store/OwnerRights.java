package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.TableName;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.FullNames;
import dev.tollgate.store.h2.H2Rights;
import dev.tollgate.store.h2.StoredExpression;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.h2.api.ErrorCode;
import org.h2.engine.RightOwner;
import org.h2.expression.Expression;
import org.h2.message.DbException;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableView;

/**
 * Checks what stored expressions may read. A view, a DEFAULT, an ON UPDATE, a GENERATED column and
 * a CHECK run with the rights of the owner of their schema, whoever uses them; those of a domain
 * count as parts of the tables that have it. The owner needs SELECT on each table and view, and
 * USAGE on each sequence, whenever the expression runs (ADR 0119).
 *
 * <p>Names decide: H2 writes the full name of each object that an expression reads into its text.
 * Thread-safe, as long as no definition runs meanwhile.
 */
final class OwnerRights {
  private static final String BEFORE_SEQUENCE = "VALUE FOR ";

  /** What a table or view reads in another schema than its own, whose owner may read all of it. */
  private record Reading(Table reader, Schema schema, String name, boolean sequence) {}

  private final Map<Table, List<Reading>> known = new ConcurrentHashMap<>();

  /** Forgets what objects read. Every definition may have changed that. */
  void definitionsChanged() {
    known.clear();
  }

  /**
   * Requires that the owners of views may read what the views read.
   *
   * @param views those that a statement reads, directly or through other views
   * @throws DbException naming what an owner may not read
   */
  void requireViews(Collection<TableView> views) {
    uncounted(
        () -> {
          for (TableView view : inOrder(views)) {
            readingsOf(view).forEach(OwnerRights::requireTable);
          }
        });
  }

  /**
   * Requires that the owners of tables may read what is evaluated for new and changed rows, also
   * for the domains of columns.
   *
   * @param written the tables that get such rows
   * @throws DbException naming what an owner may not read
   */
  void requireRules(Collection<Table> written, SqlContext context) {
    uncounted(
        () -> {
          for (Table table : inOrder(written)) {
            for (Reading reading : readingsOf(table)) {
              if (reading.sequence) {
                requireSequence(reading, context);
              } else {
                requireTable(reading);
              }
            }
          }
        });
  }

  /** The same on every replica: the first right that is missing is in the message. */
  private static <T extends SchemaObject> List<T> inOrder(Collection<T> objects) {
    return objects.stream().sorted(Comparator.comparingInt(SchemaObject::getId)).toList();
  }

  /**
   * Does what is no part of the steps of a statement: what objects read is remembered, on each
   * replica since another moment.
   */
  private static void uncounted(Runnable check) {
    Meter.uncounted(
        () -> {
          check.run();
          return true;
        });
  }

  private List<Reading> readingsOf(Table table) {
    return known.computeIfAbsent(table, any -> List.copyOf(read(table)));
  }

  /**
   * What a table or view reads, and what the views read that it reads, directly or through others.
   */
  private static Set<Reading> read(Table table) {
    Set<Reading> found = new LinkedHashSet<>();
    Set<Table> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Table> open = new ArrayDeque<>(List.of(table));
    while (!open.isEmpty()) {
      Table reader = open.pop();
      if (seen.add(reader)) {
        for (String text : textsOf(reader)) {
          addNamed(reader, text, found, open);
        }
      }
    }
    return found;
  }

  private static List<String> textsOf(Table table) {
    if (table instanceof TableView view) {
      return view.isInvalid() ? List.of() : List.of(view.getQuerySQL());
    }
    List<Expression> rules = new ArrayList<>(Restorable.expressionsOf(table));
    for (Column column : table.getColumns()) {
      for (Domain domain = column.getDomain(); domain != null; domain = domain.getDomain()) {
        rules.addAll(Restorable.expressionsOf(domain));
      }
    }
    return rules.stream().map(StoredExpression::textOf).toList();
  }

  private static void addNamed(Table reader, String text, Set<Reading> found, Deque<Table> views) {
    for (FullNames.FullName full : FullNames.in(text)) {
      Schema schema = reader.getDatabase().findSchema(full.schema());
      if (schema == null) {
        continue;
      }
      String name = full.name();
      boolean sequence = text.startsWith(BEFORE_SEQUENCE, full.at() - BEFORE_SEQUENCE.length());
      Table table = sequence ? null : schema.findTableOrView(null, name);
      if (table instanceof TableView view) {
        views.add(view);
      }
      boolean exists = sequence ? schema.findSequence(name) != null : table != null;
      if (exists && !schema.getName().equals(reader.getSchema().getName())) {
        found.add(new Reading(reader, schema, name, sequence));
      }
    }
  }

  private static void requireTable(Reading reading) {
    Table table = reading.schema.findTableOrView(null, reading.name);
    RightOwner owner = reading.reader.getSchema().getOwner();
    if (table != null && !H2Rights.maySelect(owner, table)) {
      throw missing("SELECT", table, reading.reader, owner);
    }
  }

  private static void requireSequence(Reading reading, SqlContext context) {
    Sequence sequence = reading.schema.findSequence(reading.name);
    RightOwner owner = reading.reader.getSchema().getOwner();
    if (sequence != null && !mayUse(owner, sequence, context)) {
      throw missing("USAGE", sequence, reading.reader, owner);
    }
  }

  /**
   * Requires that a user or role may draw numbers from sequences. H2 has no rights on sequences.
   *
   * @throws DbException naming the first sequence from which it may not
   */
  static void requireUsage(RightOwner grantee, Collection<Sequence> sequences, SqlContext context) {
    for (Sequence sequence : inOrder(sequences)) {
      if (!mayUse(grantee, sequence, context)) {
        throw DbException.get(ErrorCode.NOT_ENOUGH_RIGHTS_FOR_1, sequence.getTraceSQL());
      }
    }
  }

  private static boolean mayUse(RightOwner grantee, Sequence sequence, SqlContext context) {
    TableName name = new TableName(sequence.getSchema().getName(), sequence.getName());
    return context.mayUse(grantee.getName(), name)
        || H2Rights.mayInsertInto(grantee, sequence.getSchema());
  }

  private static DbException missing(
      String right, SchemaObject read, Table reader, RightOwner owner) {
    return DbException.get(
        ErrorCode.NOT_ENOUGH_RIGHTS_FOR_1,
        read.getTraceSQL()
            + ", which "
            + (reader instanceof TableView ? "view " : "table ")
            + reader.getTraceSQL()
            + " reads with the rights of "
            + owner.getName()
            + ", who owns the schema: GRANT "
            + right
            + " to "
            + owner.getName());
  }
}
