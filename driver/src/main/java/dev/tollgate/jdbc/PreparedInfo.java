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

/** A node's description of a statement that it prepared. */
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
   * The statements that one connection prepared or used last. Holds only statements that a node
   * accepted, because a statement that it rejected may be valid a moment later. Thread-safe.
   */
  static final class Cache {
    static final int MAX_STATEMENTS = 256;

    /** A longer text is most likely made for one use. */
    static final int MAX_SQL_CHARS = 16_384;

    /** Limit of all texts together. */
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

    /** Removes all statements, because after a change of the schema each may be stale. */
    synchronized void clear() {
      statements.clear();
      chars = 0;
    }
  }
}
