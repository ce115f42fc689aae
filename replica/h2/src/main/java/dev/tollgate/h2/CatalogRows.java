package dev.tollgate.h2;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.h2.engine.Database;
import org.h2.engine.Right;
import org.h2.engine.Role;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.schema.Schema;
import org.h2.table.MetaTable;
import org.h2.table.Table;
import org.h2.value.ValueNull;

/**
 * What a user sees of INFORMATION_SCHEMA beside definitions, which every user sees. H2 would show
 * every user all rights on tables, and what follows from the rows of all tables.
 */
public final class CatalogRows {
  private final SessionLocal session;
  private final User user;
  private final Map<String, Boolean> owned = new HashMap<>();

  /** For the user that a session has now. */
  public CatalogRows(SessionLocal session) {
    this.session = session;
    this.user = session.getUser();
  }

  /** The rows of a table of INFORMATION_SCHEMA that the user of the session may see. */
  @Replaces(of = "org.h2.table.MetaTable", in = "org.h2.index.MetaIndex")
  @SuppressWarnings("NonApiType") // H2 declares an ArrayList
  public static ArrayList<Row> generateRows(
      MetaTable catalog, SessionLocal session, SearchRow first, SearchRow last) {
    ArrayList<Row> rows = catalog.generateRows(session, first, last);
    new CatalogRows(session).restrict(catalog, rows);
    return rows;
  }

  private void restrict(MetaTable catalog, List<Row> rows) {
    switch (catalog.getName()) {
      case "TABLE_PRIVILEGES", "COLUMN_PRIVILEGES" ->
          rows.removeIf(
              row ->
                  !showsRight(text(catalog, row, "GRANTEE"), text(catalog, row, "TABLE_SCHEMA")));
      case "TABLES" -> hide(catalog, rows, "ROW_COUNT_ESTIMATE", "LAST_MODIFICATION");
      case "COLUMNS" -> hide(catalog, rows, "IDENTITY_BASE");
      case "SEQUENCES" -> {
        for (Row row : rows) {
          if (!owns(text(catalog, row, "SEQUENCE_SCHEMA"))) {
            hide(catalog, row, "BASE_VALUE");
          }
        }
      }
      default -> {}
    }
  }

  private void hide(MetaTable catalog, List<Row> rows, String... columns) {
    for (Row row : rows) {
      if (!mayRead(text(catalog, row, "TABLE_SCHEMA"), text(catalog, row, "TABLE_NAME"))) {
        for (String column : columns) {
          hide(catalog, row, column);
        }
      }
    }
  }

  private static void hide(MetaTable catalog, Row row, String column) {
    row.setValue(catalog.getColumn(column).getColumnId(), ValueNull.INSTANCE);
  }

  private static String text(MetaTable catalog, Row row, String column) {
    return row.getValue(catalog.getColumn(column).getColumnId()).getString();
  }

  /**
   * Returns true if the user may see who has a right on a table. The right concerns its grantee,
   * and the owner of the table, who has granted it or could have. An administrator sees all.
   *
   * @param grantee the name of the user or role that has the right
   * @param schema the name of the table's schema
   */
  public boolean showsRight(String grantee, String schema) {
    return isGrantee(grantee) || owns(schema);
  }

  /** True for the user, PUBLIC, and the roles of both. */
  private boolean isGrantee(String name) {
    Role role = database().findRole(name);
    return name.equals(user.getName())
        || (role != null
            && (user.isRoleGranted(role) || database().getPublicRole().isRoleGranted(role)));
  }

  private boolean owns(String schema) {
    return owned.computeIfAbsent(schema, this::ownsSchema);
  }

  /** True for administrators, too. */
  private boolean ownsSchema(String name) {
    Schema schema = database().findSchema(name);
    if (schema == null) {
      return false;
    }
    try {
      user.checkSchemaOwner(schema);
      return true;
    } catch (DbException e) {
      return false;
    }
  }

  /** Returns true if the user may see what follows from the rows of a table. */
  public boolean mayRead(String schema, String table) {
    Schema in = database().findSchema(schema);
    Table found = in == null ? null : in.findTableOrView(session, table);
    return found != null && user.hasTableRight(found, Right.SELECT);
  }

  private Database database() {
    return session.getDatabase();
  }
}
