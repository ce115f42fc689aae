package dev.tollgate.store;

import dev.tollgate.core.command.TableName;
import dev.tollgate.store.fence.FencedTables;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.engine.SessionLocal;
import org.h2.table.Table;

/**
 * Finds the tables that the foreign keys in a definition reference. H2 checks a new foreign key
 * against committed rows, so no transaction may be deleting rows of these tables meanwhile. The
 * tables are read from the text, which the front-end has rebuilt from tokens. A string that looks
 * like a foreign key costs a wait and nothing else.
 */
final class ReferencedTables {
  private static final String NAME = "(\"(?:[^\"]|\"\")+\"|\\w+)";
  private static final Pattern REFERENCE =
      Pattern.compile(
          "\\bREFERENCES\\s+" + NAME + "(?:\\s*\\.\\s*" + NAME + ")?", Pattern.CASE_INSENSITIVE);

  private ReferencedTables() {}

  static Collection<Table> of(SessionLocal session, String definition) {
    List<Table> found = new ArrayList<>();
    Matcher matcher = REFERENCE.matcher(definition);
    while (matcher.find()) {
      String second = matcher.group(2);
      TableName name =
          second == null
              ? new TableName(null, plain(matcher.group(1)))
              : new TableName(plain(matcher.group(1)), plain(second));
      Table table = FencedTables.find(session, name);
      if (table != null) {
        found.add(table);
      }
    }
    return found;
  }

  private static String plain(String name) {
    return name.startsWith("\"")
        ? name.substring(1, name.length() - 1).replace("\"\"", "\"")
        : name.toUpperCase(Locale.ROOT);
  }
}
