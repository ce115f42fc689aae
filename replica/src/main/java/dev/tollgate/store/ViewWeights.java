package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Limits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.util.ParserUtil;

/**
 * How often views use views. H2 asks of a view whether it is deterministic by asking all views that
 * it uses, as often as it uses them: of thirty views, each twice the one before, it would ask for
 * ever, and nobody could interrupt it.
 *
 * <p>The weight of a view is one and the weights of the views that it uses, each as often as it
 * stands in the view's text. It depends on the definitions that there are, and on nothing else.
 */
final class ViewWeights {
  /** A table in the text that H2 makes of a view: with its schema, and without a column behind. */
  private static final Pattern TABLE =
      Pattern.compile("\"(?:[^\"]|\"\")+\"\\.\"(?:[^\"]|\"\")+\"(?!\\.\")");

  /** Anything that may be a name in the text of a view that H2 could not read yet. */
  private static final Pattern NAME = Pattern.compile("\"((?:[^\"]|\"\")+)\"|\\w+");

  /** H2 writes it only before a list of named queries; in a string it costs weight, and no more. */
  private static final Pattern NAMED_QUERIES =
      Pattern.compile("\\bWITH\\s", Pattern.CASE_INSENSITIVE);

  private static final long MOST = 1L << 40;

  /**
   * @param readable if H2 wrote the text, and not a client
   */
  private record Text(String sql, boolean readable) {}

  private final Map<String, Text> texts = new HashMap<>();
  private final Map<String, List<String>> named = new HashMap<>();
  private final Map<String, Long> weights = new HashMap<>();

  private ViewWeights() {}

  /**
   * Refuses a view with which it, or another view, would use views too often.
   *
   * @param schema of the view
   * @param name of the view
   * @param sql of its query
   * @param readable if H2 wrote that, and not a client: no table that the view uses is missing
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void require(
      SessionLocal session, Schema schema, String name, String sql, boolean readable) {
    ViewWeights views = new ViewWeights();
    for (TableView view : Views.of(session)) {
      if (view.getQuerySQL() != null) {
        views.add(
            view.getSchema(), view.getName(), new Text(view.getQuerySQL(), !view.isInvalid()));
      }
    }
    views.add(schema, name, new Text(sql, readable));
    // in an order that is the same everywhere, because the message names the first
    for (String view : new TreeSet<>(views.texts.keySet())) {
      if (views.weightOf(view) > Limits.VIEW_WEIGHT) {
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
  }

  private void add(Schema schema, String name, Text text) {
    StringBuilder full = new StringBuilder();
    schema.getSQL(full, HasSQL.DEFAULT_SQL_FLAGS).append('.');
    ParserUtil.quoteIdentifier(full, name, HasSQL.DEFAULT_SQL_FLAGS);
    if (texts.put(full.toString(), text) == null) {
      named
          .computeIfAbsent(name.toUpperCase(Locale.ROOT), any -> new ArrayList<>())
          .add(full.toString());
    }
  }

  /** The views in a text, each as often as it stands there; rather too many than too few. */
  private List<String> usedIn(Text text) {
    List<String> used = new ArrayList<>();
    Matcher names = (text.readable ? TABLE : NAME).matcher(text.sql);
    while (names.find()) {
      if (text.readable) {
        used.add(names.group());
      } else {
        String quoted = names.group(1);
        String name = quoted == null ? names.group() : quoted.replace("\"\"", "\"");
        used.addAll(named.getOrDefault(name.toUpperCase(Locale.ROOT), List.of()));
      }
    }
    return used;
  }

  private long weightOf(String view) {
    Long known = weights.get(view);
    if (known != null) {
      return known;
    }
    // a view that is broken may be one of a circle
    weights.put(view, 1L);
    Text text = requireNonNull(texts.get(view));
    long weight = 1;
    for (String used : usedIn(text)) {
      weight += texts.containsKey(used) ? weightOf(used) : 0;
    }
    if (NAMED_QUERIES.matcher(text.sql).find()) {
      weight *= Limits.USES_IN_A_VIEW;
    }
    weight = Math.min(MOST, weight);
    weights.put(view, weight);
    return weight;
  }
}
