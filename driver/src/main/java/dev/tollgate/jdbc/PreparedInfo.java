package dev.tollgate.jdbc;

import dev.tollgate.value.Column;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireReader;
import java.util.Iterator;
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

  /**
   * What was prepared last on one connection. Only statements that a node has taken: what it
   * refused may be right a moment later. Thread-safe.
   */
  static final class Cache {
    static final int MAX_STATEMENTS = 256;

    /** A longer text is most likely made for one use. */
    static final int MAX_SQL_CHARS = 16_384;

    /** Of all texts together. */
    static final int MAX_CHARS = 1 << 20;

    private final Map<String, PreparedInfo> statements = new LinkedHashMap<>(16, 0.75f, true);
    private int chars;

    synchronized @Nullable PreparedInfo get(String sql) {
      return statements.get(sql);
    }

    synchronized void put(String sql, PreparedInfo info) {
      if (sql.length() > MAX_SQL_CHARS) {
        return;
      }
      if (statements.put(sql, info) == null) {
        chars += sql.length();
      }
      Iterator<String> eldest = statements.keySet().iterator();
      while (statements.size() > MAX_STATEMENTS || chars > MAX_CHARS) {
        chars -= eldest.next().length();
        eldest.remove();
      }
    }

    /** After a change of the schema nothing is certain. */
    synchronized void clear() {
      statements.clear();
      chars = 0;
    }
  }
}
