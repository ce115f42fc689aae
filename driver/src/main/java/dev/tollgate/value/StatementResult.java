package dev.tollgate.value;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.List;
import org.h2.engine.CastDataProvider;
import org.h2.result.ResultInterface;
import org.jspecify.annotations.Nullable;

/** The body of {@code Reply.Result}: the result of one execution of a statement. */
public sealed interface StatementResult {
  /**
   * The statement changed rows.
   *
   * @param keys the requested generated keys, or null if none were requested
   */
  record Updated(long count, @Nullable RowSet keys) implements StatementResult {}

  /** The statement found rows; these are the first. */
  record Rows(RowSet rows) implements StatementResult {
    public Rows {
      requireNonNull(rows, "rows");
    }
  }

  /**
   * The statement has set the time zone of the session.
   *
   * @param name of the zone that the session has now
   */
  record TimeZone(String name) implements StatementResult {
    public TimeZone {
      requireNonNull(name, "name");
    }
  }

  int COUNT = 0;
  int COUNT_AND_KEYS = 1;
  int ROWS = 2;
  int PAGE = 3;
  int CHANGED_ROWS = 4;
  int TIME_ZONE = 5;

  /** Appends an update count. */
  static void writeCount(WireWriter out, long count) {
    out.u8(COUNT).i64(count);
  }

  /** Appends an update count and all generated keys. */
  static void writeCountAndKeys(WireWriter out, long count, ResultInterface keys) {
    out.u8(COUNT_AND_KEYS).i64(count);
    RowSet.write(out, keys, 0, Integer.MAX_VALUE, 0);
  }

  /** Appends the name of the time zone that a session has now. */
  static void writeTimeZone(WireWriter out, String name) {
    out.u8(TIME_ZONE).string(name);
  }

  /** Begins a result of rows; a row set has to follow. */
  static WireWriter beginRows(WireWriter out) {
    return out.u8(ROWS);
  }

  /** Begins a result of rows within an open transaction, or from a statement in the log. */
  static WireWriter beginChangedRows(WireWriter out) {
    return out.u8(CHANGED_ROWS);
  }

  /** True if the body is the result of a query that changed nothing and began no transaction. */
  static boolean isOfQuery(byte[] body) {
    return body.length > 0 && (body[0] == ROWS || body[0] == PAGE);
  }

  /** The name of the time zone that a statement has set; null for the result of another. */
  static @Nullable String timeZoneOf(byte[] body) {
    return body.length > 0 && body[0] == TIME_ZONE && read(body, null) instanceof TimeZone zone
        ? zone.name()
        : null;
  }

  /** Begins the reply to a fetch; a page has to follow. */
  static WireWriter beginPage(WireWriter out) {
    return out.u8(PAGE);
  }

  /** Reads the reply to an execution. */
  static StatementResult read(byte[] body, @Nullable CastDataProvider provider) {
    WireReader in = new WireReader(body);
    int kind = in.u8();
    StatementResult result =
        switch (kind) {
          case COUNT -> new Updated(in.i64(), null);
          case COUNT_AND_KEYS -> new Updated(in.i64(), RowSet.read(in, provider));
          case ROWS, CHANGED_ROWS -> new Rows(RowSet.read(in, provider));
          case TIME_ZONE -> new TimeZone(in.string());
          default -> throw new WireFormatException("result kind " + kind);
        };
    in.expectEnd();
    return result;
  }

  /** Reads the reply to a fetch. */
  static RowSet.Page readPage(
      byte[] body, List<Column> columns, @Nullable CastDataProvider provider) {
    WireReader in = new WireReader(body);
    int kind = in.u8();
    if (kind != PAGE) {
      throw new WireFormatException("result kind " + kind + " for a fetch");
    }
    RowSet.Page page = RowSet.Page.read(in, columns, provider);
    in.expectEnd();
    return page;
  }
}
