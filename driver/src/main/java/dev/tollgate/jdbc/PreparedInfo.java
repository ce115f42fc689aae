package dev.tollgate.jdbc;

import dev.tollgate.value.Column;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a node said of a statement when it was asked to prepare it. */
record PreparedInfo(
    boolean query, int commandType, List<Parameter> parameters, List<Column> columns) {
  static PreparedInfo of(Reply.Prepared reply) {
    List<Column> columns = List.of();
    if (reply.columns().length > 0) {
      WireReader in = new WireReader(reply.columns());
      columns = RowSet.readColumns(in);
      in.expectEnd();
    }
    return new PreparedInfo(
        reply.query(), reply.commandType(), Parameter.decode(reply.parameters()), columns);
  }

  /** The statements of one session that were prepared last. Thread-safe. */
  static final class Cache {
    private static final int MAX_STATEMENTS = 256;

    /** A longer text is most likely made for one use. */
    private static final int MAX_SQL_CHARS = 16_384;

    private final Map<String, PreparedInfo> statements =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, PreparedInfo> eldest) {
            return size() > MAX_STATEMENTS;
          }
        };

    synchronized @Nullable PreparedInfo get(String sql) {
      return statements.get(sql);
    }

    synchronized void put(String sql, PreparedInfo info) {
      if (sql.length() <= MAX_SQL_CHARS) {
        statements.put(sql, info);
      }
    }

    /** After a change of the schema nothing is certain. */
    synchronized void clear() {
      statements.clear();
    }
  }
}
