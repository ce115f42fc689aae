package dev.tollgate.store.limits;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.FullNames;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.schema.Schema;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.util.ParserUtil;
import org.h2.util.StringUtils;

/**
 * Counts of how often views use views. Two things that H2 does with views cannot be interrupted:
 *
 * <ul>
 *   <li>H2 asks a view whether it is deterministic by asking all views that it uses, once for each
 *       use. With thirty views that each use the one before twice, H2 would ask forever. The weight
 *       of a view is one plus the weights of the views that it uses, each as often as it stands in
 *       the text.
 *   <li>After a definition the store compiles all views ({@link Views}), and with each view H2
 *       compiles the views that use it, and the views that use those. A view is compiled as often
 *       as there are ways down from it, where a view uses another once or not at all.
 * </ul>
 *
 * <p>Both counts depend only on the existing definitions.
 */
final class ViewWeights {
  /** Anything that may be a name in the text of a view that H2 could not read yet. */
  private static final Pattern NAME =
      Pattern.compile("(U&)?\"((?:[^\"]++|\"\")++)\"|\\w+", Pattern.CASE_INSENSITIVE);

  /** Names are escaped in a way that only the parser of H2 reads. */
  private static final Pattern OTHER_ESCAPES =
      Pattern.compile("\\bUESCAPE\\b", Pattern.CASE_INSENSITIVE);

  /**
   * The keyword WITH: H2 writes it only before a list of named queries; in a string it only adds
   * weight.
   */
  private static final Pattern NAMED_QUERIES =
      Pattern.compile("\\bWITH\\s", Pattern.CASE_INSENSITIVE);

  /**
   * @param readable whether H2 wrote the text, and not a client
   */
  private record Text(String sql, boolean readable) {}

  private final Map<String, Text> texts = new HashMap<>();
  private final Map<String, List<String>> named = new HashMap<>();
  private final Map<String, List<String>> used = new HashMap<>();
  private final UseWeights<String> weights = new UseWeights<>(this::usedIn, this::factorOf);
  private final UseWeights<String> compilations =
      new UseWeights<>(view -> List.copyOf(new LinkedHashSet<>(usedIn(view))), view -> 1);

  private ViewWeights() {}

  private static ViewWeights of(List<TableView> all) {
    ViewWeights views = new ViewWeights();
    for (TableView view : all) {
      if (view.getQuerySQL() != null) {
        views.add(nameOf(view), view.getName(), new Text(view.getQuerySQL(), !view.isInvalid()));
      }
    }
    return views;
  }

  /**
   * Rejects a view if this view or another would then use views too often, or if views would then
   * be compiled too often.
   *
   * @param schema of the view
   * @param name of the view
   * @param sql of its query
   * @param readable whether H2 wrote that text, and not a client: then no table that the view uses
   *     is missing
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void require(
      SessionLocal session, Schema schema, String name, String sql, boolean readable) {
    if (!readable && OTHER_ESCAPES.matcher(sql).find()) {
      throw Exhausted.work(
          "the view was not made, because a table that it uses is missing, and UESCAPE hides which"
              + " views it will use: write its names without UESCAPE");
    }
    ViewWeights views = of(Views.of(session));
    views.add(nameOf(schema, name), name, new Text(sql, readable));
    views.requireNoCircle(nameOf(schema, name));
    // in the same order on every replica, because the message names the first view
    for (String view : new TreeSet<>(views.texts.keySet())) {
      if (views.weights.of(view) > Limits.VIEW_WEIGHT) {
        throw Exhausted.work(
            "the view was not made, because with it view "
                + view
                + " would use views more than "
                + Limits.VIEW_WEIGHT
                + " times, each counted as often as the views that use it, and "
                + Limits.USES_IN_A_VIEW
                + " times in a view with WITH: let it use tables, or store what a view gives in a"
                + " table");
      }
    }
    views.requireFewCompilations();
  }

  /**
   * Rejects the new name of a view if the view would then use itself.
   *
   * @throws org.h2.message.DbException with SQLState 42T01
   */
  static void requireNoCircle(SessionLocal session, TableView renamed, String name) {
    List<TableView> others = new ArrayList<>(Views.of(session));
    others.remove(renamed);
    ViewWeights views = of(others);
    String full = nameOf(renamed.getSchema(), name);
    views.add(full, name, new Text(renamed.getQuerySQL(), !renamed.isInvalid()));
    views.requireNoCircle(full);
  }

  /**
   * Rejects a view that uses itself, directly or through other views: H2 compiles a view with all
   * views that use it, and would not end.
   */
  private void requireNoCircle(String view) {
    Set<String> reached = new LinkedHashSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(view));
    while (!open.isEmpty()) {
      for (String used : usedIn(open.pop())) {
        if (used.equals(view)) {
          throw DbException.convert(
              SqlErrors.exception(
                  SqlState.REFUSED_STATEMENT,
                  "the definition was refused and changed nothing, because view "
                      + view
                      + " would use itself"
                      + (reached.isEmpty() ? "" : ", through " + String.join(", ", reached))
                      + ": let it use tables instead"));
        }
        if (reached.add(used)) {
          open.push(used);
        }
      }
    }
  }

  private void requireFewCompilations() {
    long all = 0;
    long characters = 0;
    for (Map.Entry<String, Text> view : texts.entrySet()) {
      long times = compilations.of(view.getKey());
      all += times;
      characters += times * view.getValue().sql.length();
    }
    if (all > Limits.VIEW_COMPILATIONS || characters > Limits.VIEW_COMPILATION_CHARACTERS) {
      throw Exhausted.work(
          "the view was not made, because with it views would be compiled "
              + all
              + " times after each definition, in all "
              + characters
              + " characters: each view once, and again for each way that leads down from it to"
              + " another; at most "
              + Limits.VIEW_COMPILATIONS
              + " times and "
              + Limits.VIEW_COMPILATION_CHARACTERS
              + " characters are allowed. Drop views, or let them use tables");
    }
  }

  /**
   * Returns the views in an order in which each follows the views that it uses; otherwise the given
   * order stays.
   */
  static List<TableView> usedFirst(List<TableView> views) {
    ViewWeights graph = of(views);
    Map<String, TableView> left = new LinkedHashMap<>();
    views.forEach(view -> left.put(nameOf(view), view));
    List<TableView> ordered = new ArrayList<>(views.size());
    for (TableView view : views) {
      graph.moveUsedFirst(nameOf(view), left, ordered);
    }
    return ordered;
  }

  private void moveUsedFirst(String name, Map<String, TableView> left, List<TableView> ordered) {
    TableView view = left.remove(name);
    if (view != null) {
      if (texts.containsKey(name)) {
        usedIn(name).forEach(other -> moveUsedFirst(other, left, ordered));
      }
      ordered.add(view);
    }
  }

  private static String nameOf(TableView view) {
    return nameOf(view.getSchema(), view.getName());
  }

  private static String nameOf(Schema schema, String name) {
    StringBuilder full = new StringBuilder();
    schema.getSQL(full, HasSQL.DEFAULT_SQL_FLAGS).append('.');
    ParserUtil.quoteIdentifier(full, name, HasSQL.DEFAULT_SQL_FLAGS);
    return full.toString();
  }

  private void add(String full, String name, Text text) {
    used.clear();
    if (texts.put(full, text) == null) {
      named.computeIfAbsent(name.toUpperCase(Locale.ROOT), any -> new ArrayList<>()).add(full);
    }
  }

  /**
   * Returns the views in the text of a view, each as often as it stands there; rather too many than
   * too few.
   */
  private List<String> usedIn(String view) {
    return used.computeIfAbsent(view, this::readUses);
  }

  private List<String> readUses(String view) {
    Text text = requireNonNull(texts.get(view));
    List<String> found = text.readable ? tablesIn(text.sql) : perhapsIn(text.sql);
    found.removeIf(name -> !texts.containsKey(name));
    return found;
  }

  private static List<String> tablesIn(String sql) {
    List<String> found = new ArrayList<>();
    for (FullNames.FullName name : FullNames.in(sql)) {
      if (!name.qualifies()) {
        found.add(
            StringUtils.quoteIdentifier(name.schema())
                + '.'
                + StringUtils.quoteIdentifier(name.name()));
      }
    }
    return found;
  }

  private List<String> perhapsIn(String sql) {
    List<String> found = new ArrayList<>();
    Matcher names = NAME.matcher(sql);
    while (names.find()) {
      String quoted = names.group(2);
      String name = quoted == null ? names.group() : quoted.replace("\"\"", "\"");
      if (names.group(1) != null) {
        name = FullNames.unescaped(name);
      }
      found.addAll(named.getOrDefault(name.toUpperCase(Locale.ROOT), List.of()));
    }
    return found;
  }

  private long factorOf(String view) {
    String sql = requireNonNull(texts.get(view)).sql;
    return NAMED_QUERIES.matcher(sql).find() ? Limits.USES_IN_A_VIEW : 1;
  }
}
