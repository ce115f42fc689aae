package dev.tollgate.store.limits;

import dev.tollgate.store.h2.SqlErrors;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableView;

/**
 * Views after a definition and after a restore. H2 learns only at the next use of a view whether
 * what the view shows is still there. Until then the tables of the view cannot be altered. A
 * restored replica knows at once. To keep all replicas alike, each replica compiles all views after
 * every definition: the state of a view depends only on the existing definitions, and on nothing
 * before.
 */
public final class Views {
  private Views() {}

  /** Compiles all views until no view becomes valid or broken any more. */
  public static void compile(SessionLocal session) {
    List<TableView> views = of(session);
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

  /** Returns all views in the order in which they were made. */
  static List<TableView> of(SessionLocal session) {
    List<TableView> views = new ArrayList<>();
    for (Schema schema : session.getDatabase().getAllSchemasNoMeta()) {
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
