package dev.tollgate.store.transfer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import dev.tollgate.store.fence.RowGuard;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Sequences;
import dev.tollgate.store.h2.StoredExpression;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintDomain;
import org.h2.engine.Comment;
import org.h2.engine.DbObject;
import org.h2.index.Index;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.util.StringUtils;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Converts what a {@link DatabaseCopy} wrote into SQL statements that a client can send.
 * Definitions run in an empty database, which then gives their SQL. Rows are passed on as they
 * come, so memory holds no more than one record of rows.
 *
 * <p>First comes what rows need, then the rows of each table in their order, then what would only
 * be in the way of rows. Generated names are written out, so that a dump of the result is the same.
 */
public final class DatabaseDump implements AutoCloseable {
  /** Rows are collected in one statement up to this many characters. */
  private static final int STATEMENT_CHARS = 64 << 10;

  /** Maximum number of rows in one statement. */
  private static final int STATEMENT_ROWS = 500;

  /** Schemas that only show what the database has. */
  private static final Set<String> READ_ONLY =
      Set.of(H2Database.SYSTEM_SCHEMA, "INFORMATION_SCHEMA");

  private final DatabaseRestore restore = new DatabaseRestore();
  private final Appendable out;
  private final Predicate<String> fits;
  private String insert = "";
  private final StringBuilder rows = new StringBuilder();
  private int rowCount;

  /**
   * @param fits whether a client may send a statement, by its length; statements of up to 64 KiB
   *     fit
   */
  public DatabaseDump(Appendable out, Predicate<String> fits) {
    this.out = requireNonNull(out, "out");
    this.fits = requireNonNull(fits, "fits");
  }

  /**
   * Takes the next record of the database.
   *
   * @throws IOException if the target fails, or if a row fits into no statement
   */
  public void accept(int kind, WireReader in) throws IOException {
    if (kind == DatabaseCopy.ROWS) {
      writeRows(in);
      return;
    }
    flush();
    restore.accept(kind, in);
    if (kind == DatabaseCopy.OBJECT_IDS) {
      writeDefinitions();
    } else if (kind == DatabaseCopy.TABLE) {
      insert = insertInto(restore.table());
    }
  }

  /** Writes what comes after the rows. */
  public void finish(List<StateRecord.FenceState> fences) throws IOException {
    flush();
    List<Constraint> constraints = all(Schema::getAllConstraints);
    for (Constraint constraint : constraints) {
      if (constraint.getConstraintType() == Constraint.Type.UNIQUE) {
        statement(constraint.getCreateSQLWithoutIndexes());
      }
    }
    for (Index index : all(Schema::getAllIndexes)) {
      String sql = index.getIndexType().getBelongsToConstraint() ? null : index.getCreateSQL();
      if (sql != null) {
        statement(sql);
      }
    }
    for (Constraint constraint : constraints) {
      if (!isKey(constraint) && !(constraint instanceof ConstraintDomain)) {
        statement(constraint.getCreateSQLWithoutIndexes());
      }
    }
    for (TableView view : views()) {
      statement(view.getCreateSQL(/* orReplace= */ false, /* force= */ false));
    }
    for (Table table : tables()) {
      List<StoredExpression> expressions = expressions(table);
      if (expressions != null) {
        for (StoredExpression expression : expressions) {
          statement(expression.statement());
        }
      }
    }
    for (Comment comment : restore.database().h2().getAllComments()) {
      statement(comment.getCreateSQL());
    }
    for (StateRecord.FenceState fence : fences) {
      statement(fenceSql(fence.table(), fence.terms()));
    }
  }

  private void writeDefinitions() throws IOException {
    for (Schema schema : schemas()) {
      if (!schema.getName().equals("PUBLIC")) {
        statement("CREATE SCHEMA " + sql(schema));
      }
    }
    for (Sequence sequence : all(Schema::getAllSequences)) {
      if (!sequence.getBelongsToTable()) {
        statement(
            H2Sequences.createSql(sequence)
                + (H2Sequences.isExhausted(sequence) ? " EXHAUSTED" : ""));
      }
    }
    Set<Domain> domains = new LinkedHashSet<>();
    this.<Domain>all(Schema::getAllDomains).forEach(domain -> addWithParents(domain, domains));
    for (Domain domain : domains) {
      statement(domain.getCreateSQL());
      for (Constraint constraint : all(Schema::getAllConstraints)) {
        if (constraint instanceof ConstraintDomain narrowing
            && narrowing.getDomain().equals(domain)) {
          statement(narrowing.getCreateSQLWithoutIndexes());
        }
      }
    }
    for (Table table : tables()) {
      boolean later = expressions(table) != null;
      statement(later ? StoredExpression.createWithout(table) : table.getCreateSQL());
    }
    for (Constraint constraint : all(Schema::getAllConstraints)) {
      if (constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY) {
        statement(constraint.getCreateSQLWithoutIndexes());
      }
    }
  }

  /** Expressions that may read other tables and views; null if they cannot be set later. */
  private static @Nullable List<StoredExpression> expressions(Table table) {
    List<StoredExpression> found = StoredExpression.settable(table);
    return found != null && found.stream().anyMatch(one -> one.text().contains("SELECT"))
        ? found
        : null;
  }

  private static void addWithParents(Domain domain, Set<Domain> domains) {
    Domain parent = domain.getDomain();
    if (parent != null) {
      addWithParents(parent, domains);
    }
    domains.add(domain);
  }

  private static boolean isKey(Constraint constraint) {
    return constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY
        || constraint.getConstraintType() == Constraint.Type.UNIQUE;
  }

  /** The schemas of clients, by name. */
  private List<Schema> schemas() {
    return restore.database().h2().getAllSchemasNoMeta().stream()
        .filter(schema -> !READ_ONLY.contains(schema.getName()))
        .sorted(Comparator.comparing(Schema::getName))
        .toList();
  }

  /** All objects of a kind, in order of creation as far as H2 remembers it. */
  private <T extends SchemaObject> List<T> all(Function<Schema, Collection<T>> kind) {
    List<T> objects = new ArrayList<>();
    schemas().forEach(schema -> objects.addAll(kind.apply(schema)));
    objects.removeIf(object -> object instanceof RowGuard || object.isTemporary());
    objects.sort(Comparator.comparingInt(DbObject::getId));
    return objects;
  }

  private List<Table> tables() {
    return this.<Table>all(schema -> schema.getAllTablesAndViews(restore.session())).stream()
        .filter(table -> table.getTableType() == TableType.TABLE)
        .toList();
  }

  /** All views; each view comes after the views that it shows. */
  private List<TableView> views() {
    List<Table> open =
        new ArrayList<>(this.<Table>all(schema -> schema.getAllTablesAndViews(restore.session())));
    open.removeIf(table -> !(table instanceof TableView));
    List<TableView> ordered = new ArrayList<>();
    while (!open.isEmpty()) {
      List<Table> ready =
          open.stream()
              .filter(
                  view ->
                      open.stream().noneMatch(other -> other.getDependentViews().contains(view)))
              .toList();
      if (ready.isEmpty()) {
        throw new IllegalStateException("views that show each other: " + open);
      }
      ready.forEach(view -> ordered.add((TableView) view));
      open.removeAll(ready);
    }
    return ordered;
  }

  private static String insertInto(Table table) {
    List<Column> columns = written(table);
    boolean always =
        columns.stream().anyMatch(column -> column.isIdentity() && column.isGeneratedAlways());
    return UnicodeEscapes.resolve(
        "INSERT INTO "
            + sql(table)
            + columns.stream()
                .map(column -> column.getSQL(HasSQL.DEFAULT_SQL_FLAGS))
                .collect(Collectors.joining(", ", "(", ")"))
            + (always ? " OVERRIDING SYSTEM VALUE" : "")
            + " VALUES\n");
  }

  /** All columns except those that are computed from others. */
  private static List<Column> written(Table table) {
    return List.of(table.getColumns()).stream().filter(column -> !column.isGenerated()).toList();
  }

  private void writeRows(WireReader in) throws IOException {
    Table table = restore.table();
    Column[] columns = table.getColumns();
    int[] written =
        IntStream.range(0, columns.length).filter(i -> !columns[i].isGenerated()).toArray();
    Value[] values = new Value[columns.length];
    while (in.remaining() > 0) {
      in.i64();
      for (int i = 0; i < values.length; i++) {
        values[i] = ValueCodec.readStored(in, columns[i].getType(), restore.session());
      }
      StringBuilder row = new StringBuilder("(");
      for (int i = 0; i < written.length; i++) {
        values[written[i]].getSQL(i == 0 ? row : row.append(", "), HasSQL.NO_CASTS);
      }
      add(table, UnicodeEscapes.resolve(row.append(')').toString()));
    }
  }

  private void add(Table table, String row) throws IOException {
    if (insert.length() + row.length() > STATEMENT_CHARS && !fits.test(insert + row)) {
      throw new IOException(
          "a row of "
              + sql(table)
              + " takes "
              + row.length()
              + " characters as SQL, and more than fit into a statement, or more values: take a backup"
              + " instead, which has no such limit");
    }
    if (rowCount == STATEMENT_ROWS || rows.length() + row.length() > STATEMENT_CHARS) {
      flush();
    }
    rows.append(rowCount++ == 0 ? insert : ",\n").append(row);
  }

  private void flush() throws IOException {
    if (rowCount > 0) {
      out.append(rows).append(";\n");
      rows.setLength(0);
      rowCount = 0;
    }
  }

  private void statement(String sql) throws IOException {
    out.append(UnicodeEscapes.resolve(sql)).append(";\n");
  }

  /** The statement, without a semicolon, that fences a table under these terms. */
  public static String fenceSql(TableName name, Operation.FenceTerms terms) {
    StringBuilder sql = new StringBuilder("ALTER TABLE ");
    String schema = name.schema();
    if (schema != null) {
      sql.append(StringUtils.quoteIdentifier(schema)).append('.');
    }
    sql.append(StringUtils.quoteIdentifier(name.name())).append(" FENCED ");
    if (terms instanceof Operation.TableFence table) {
      sql.append(table.reading() == FenceReading.MONOTONIC ? "MONOTONIC " : "").append("BY LOCK ");
      StringUtils.quoteStringSQL(sql, table.lock().value());
    } else if (terms instanceof Operation.RowFence rows) {
      sql.append("BY LOCK (").append(rows.lockSql()).append(')');
    }
    return sql.toString();
  }

  private static String sql(HasSQL object) {
    return object.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }

  @Override
  public void close() {
    restore.abandon();
  }
}
