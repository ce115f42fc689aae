package dev.tollgate.store.h2;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * A view. CREATE FORCE VIEW would refuse some views whose tables are missing or broken, so the view
 * is made without a statement: H2 then keeps a view that it cannot compile.
 *
 * @param columns the names that the definition gives to the columns; null if the query names them
 */
public record StoredView(
    int id,
    String schema,
    String view,
    @Nullable List<String> columns,
    @Nullable String comment,
    String query,
    String sql)
    implements StoredDefinition {
  public StoredView {
    requireNonNull(schema, "schema");
    requireNonNull(view, "view");
    requireNonNull(query, "query");
    requireNonNull(sql, "sql");
    columns = columns == null ? null : List.copyOf(columns);
  }

  static StoredView of(TableView view) {
    return new StoredView(
        view.getId(),
        view.getSchema().getName(),
        view.getName(),
        H2Definitions.namedColumns(view),
        view.getComment(),
        view.getQuerySQL(),
        view.getCreateSQL());
  }

  @Override
  public String comparable() {
    return sql;
  }

  @Override
  public String name() {
    return "view " + schema + "." + view;
  }

  @Override
  public void make(SessionLocal session, int number) {
    Database database = session.getDatabase();
    Schema in = database.getSchema(schema);
    Column[] named =
        columns == null
            ? null
            : columns.stream()
                .map(column -> new Column(column, TypeInfo.TYPE_UNKNOWN))
                .toArray(Column[]::new);
    int own = number == 0 ? database.allocateObjectId() : number;
    TableView made = new TableView(in, own, view, query, named, session);
    if (comment != null) {
      made.setComment(comment);
    }
    database.addSchemaObject(session, made);
    database.unlockMeta(session);
  }

  /** The name of an object as H2 writes it into the SQL of others. */
  static String quoted(HasSQL object) {
    return object.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }
}
