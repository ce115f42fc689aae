package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.Touched;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableView;
import org.h2.util.HasSQL;

/**
 * Views after a definition and after a restore. H2 learns only at the next use of a view whether
 * what the view shows is still there. Until then the tables of the view cannot be altered. A
 * restored replica knows at once. To keep all replicas alike, each replica compiles the views that
 * a definition may have mended or broken: the state of a view depends only on the existing
 * definitions, and on nothing before.
 */
public final class Views {
  private final List<TableView> known;

  /** The views of a database, which are compiled. */
  public Views(H2Database database) {
    known = of(database.h2());
  }

  /** Compiles all views until no view becomes valid or broken any more. */
  public static void compile(SessionLocal session) {
    compile(of(session), session);
  }

  /**
   * Compiles the views that are broken, and those that show what a definition has touched, directly
   * or by other views.
   */
  public void follow(Touched touched, SessionLocal session) {
    known.removeIf(view -> !Touched.exists(view));
    for (Table table : touched.tables()) {
      if (table instanceof TableView view && !known.contains(view)) {
        known.add(view);
      }
    }
    known.sort(Comparator.comparingInt(TableView::getId));
    Set<String> names = new LinkedHashSet<>(touched.names());
    Set<TableView> affected = new LinkedHashSet<>(showing(names));
    for (TableView view : known) {
      if (view.isInvalid() || touched.tables().contains(view)) {
        affected.add(view);
      }
    }
    List<TableView> inOrder = new ArrayList<>(affected);
    inOrder.sort(Comparator.comparingInt(TableView::getId));
    compile(inOrder, session);
  }

  /**
   * The views that show objects of these names, directly or by other views, whose names are added.
   * H2 has written full names into the text of each view that is valid.
   */
  public List<TableView> showing(Set<String> names) {
    List<TableView> others = new ArrayList<>(known);
    List<TableView> found = new ArrayList<>();
    for (boolean more = true; more; ) {
      List<String> before = List.copyOf(names);
      more =
          others.removeIf(
              view -> {
                boolean shows = before.stream().anyMatch(view.getQuerySQL()::contains);
                if (shows) {
                  found.add(view);
                  names.add(view.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
                }
                return shows;
              });
    }
    return found;
  }

  private static void compile(List<TableView> given, SessionLocal session) {
    List<TableView> views = given;
    if (views.stream().anyMatch(TableView::isInvalid)) {
      // otherwise each of the views that use one another would need a round of its own to be mended
      views = ViewWeights.usedFirst(views);
    }
    boolean progress = true;
    for (int round = 0; progress && round <= views.size(); round++) {
      progress = false;
      for (TableView view : views) {
        boolean before = view.isInvalid();
        compile(view, session);
        progress |= before != view.isInvalid();
      }
    }
  }

  private static void compile(TableView view, SessionLocal session) {
    try {
      view.recompile(session, /* force= */ true, /* clearIndexMeta= */ false);
    } catch (RuntimeException e) {
      SqlErrors.requireFunctionOfLog(e);
      // the columns of the view have no names, or H2 failed; the view stays as it is
    }
  }

  /**
   * Returns the views that compile and have this in the text of their queries. H2 itself does not
   * know the tables of subqueries.
   */
  static List<TableView> naming(SessionLocal session, String name) {
    return of(session).stream()
        .filter(view -> !view.isInvalid() && view.getQuerySQL().contains(name))
        .toList();
  }

  /** Returns all views in the order in which they were made. */
  static List<TableView> of(SessionLocal session) {
    return of(session.getDatabase());
  }

  private static List<TableView> of(Database database) {
    List<TableView> views = new ArrayList<>();
    for (Schema schema : database.getAllSchemasNoMeta()) {
      for (Table object : schema.getAllTablesAndViews(null)) {
        if (object instanceof TableView view) {
          views.add(view);
        }
      }
    }
    views.sort(Comparator.comparingInt(TableView::getId));
    return views;
  }
}
