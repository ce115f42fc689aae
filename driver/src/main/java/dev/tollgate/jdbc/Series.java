package dev.tollgate.jdbc;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Statements that change rows, gathered for one request: as many as it may have. */
final class Series {
  /** Room in a frame for everything except the statements. */
  private static final int FRAME_OVERHEAD_BYTES = 4096;

  private static final int MAX_BYTES_PER_CHAR = 3;

  /**
   * How one statement of a series ended.
   *
   * @param failure null if the statement has changed {@code count} rows
   */
  record Result(long count, @Nullable SQLException failure) {}

  private final List<Request.SeriesStatement> statements = new ArrayList<>();
  private long room = (long) Protocol.MAX_FRAME_BYTES - FRAME_OVERHEAD_BYTES;

  /** Adds a statement; returns false if the request is full. */
  boolean add(String sql, byte[] parameterSet) {
    long size = 2L * Integer.BYTES + (long) sql.length() * MAX_BYTES_PER_CHAR + parameterSet.length;
    boolean fits = size <= room && statements.size() < Protocol.MAX_SERIES_STATEMENTS;
    if (fits || statements.isEmpty()) {
      statements.add(new Request.SeriesStatement(sql, parameterSet));
      room -= size;
      return true;
    }
    return false;
  }

  int size() {
    return statements.size();
  }

  boolean isEmpty() {
    return statements.isEmpty();
  }

  List<Request.SeriesStatement> statements() {
    return List.copyOf(statements);
  }
}
