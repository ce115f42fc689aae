package dev.tollgate.store.limits;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableView;

/**
 * Views after a definition and after a restore. H2 finds out when it next uses a view whether what
 * the view shows is still there, and until then its tables cannot be altered; a replica that was
 * restored knows at once. So that all replicas are alike, each compiles all views after every
 * definition: what a view is depends on the definitions that there are, and on nothing before.
 */
public final class Views {
  private Views() {}

  /** Compiles all views, until no more of them become valid or broken by it. */
  public static void compile(SessionLocal session) {
    List<TableView> views = of(session);
    if (views.stream().anyMatch(TableView::isInvalid)) {
      // or a round of its own would mend each of those that use one another
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
    } catch (DbException e) {
      // of a view whose columns have no names; it stays as it is
    }
  }

  /** In the order in which they were made. */
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
