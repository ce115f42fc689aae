package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import dev.tollgate.value.Column;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueCollectionBase;
import org.jspecify.annotations.Nullable;

/**
 * The result of a statement as values of Java, for what is no JDBC client: null, Boolean, Long,
 * BigDecimal, Float, Double, String, {@link Json}, and lists of these. Binary values are
 * hexadecimal digits; dates, times and all other values are the text that SQL has for them.
 * Immutable.
 */
public final class PlainResult {
  /** A text in JSON. */
  public record Json(String text) {
    public Json {
      requireNonNull(text, "text");
    }
  }

  /**
   * A column of the rows.
   *
   * @param type its name in SQL, without length and precision
   */
  public record PlainColumn(String name, String type) {
    public PlainColumn {
      requireNonNull(name, "name");
      requireNonNull(type, "type");
    }
  }

  private final long updated;
  private final @Nullable List<Column> columns;
  private final RowSet.@Nullable Page page;

  private PlainResult(long updated, @Nullable List<Column> columns, RowSet.@Nullable Page page) {
    this.updated = updated;
    this.columns = columns;
    this.page = page;
  }

  /** Reads the body of {@code Reply.Result}. */
  public static PlainResult read(byte[] body) {
    StatementResult result = StatementResult.read(body, /* provider= */ null);
    if (result instanceof StatementResult.Updated change) {
      return new PlainResult(change.count(), null, null);
    }
    if (result instanceof StatementResult.TimeZone) {
      return new PlainResult(0, null, null);
    }
    RowSet rows = ((StatementResult.Rows) result).rows();
    return new PlainResult(0, rows.columns(), rows.page());
  }

  /** Reads the reply to a fetch of further rows of this result. */
  public PlainResult next(byte[] body) {
    List<Column> known = requireNonNull(columns, "columns");
    return new PlainResult(0, known, StatementResult.readPage(body, known, /* provider= */ null));
  }

  /** False if the statement has changed rows and returns none. */
  public boolean hasRows() {
    return columns != null;
  }

  /** How many rows the statement has changed, if it returns none. */
  public long updated() {
    return updated;
  }

  /** Under which number further rows are fetched; 0 if these are the last ones. */
  public long cursorId() {
    return page == null ? 0 : page.cursorId();
  }

  /** The columns, in order. */
  public List<PlainColumn> columns() {
    List<PlainColumn> plain = new ArrayList<>();
    for (Column column : requireNonNull(columns, "columns")) {
      plain.add(new PlainColumn(column.label(), Value.getTypeName(column.type().getValueType())));
    }
    return plain;
  }

  /** The rows of this page. */
  public List<List<@Nullable Object>> rows() {
    List<List<@Nullable Object>> rows = new ArrayList<>();
    for (Value[] row : requireNonNull(page, "page").rows()) {
      rows.add(plain(Arrays.asList(row)));
    }
    return rows;
  }

  private static List<@Nullable Object> plain(Collection<Value> values) {
    List<@Nullable Object> plain = new ArrayList<>(values.size());
    values.forEach(value -> plain.add(plain(value)));
    return plain;
  }

  private static @Nullable Object plain(Value value) {
    return switch (value.getValueType()) {
      case Value.NULL -> null;
      case Value.BOOLEAN -> value.getBoolean();
      case Value.TINYINT, Value.SMALLINT, Value.INTEGER, Value.BIGINT -> value.getLong();
      case Value.NUMERIC -> value.getBigDecimal();
      case Value.REAL -> Float.isFinite(value.getFloat()) ? value.getFloat() : value.getString();
      case Value.DOUBLE ->
          Double.isFinite(value.getDouble()) ? value.getDouble() : value.getString();
      case Value.DECFLOAT -> decimal(value);
      case Value.BINARY, Value.VARBINARY, Value.BLOB, Value.JAVA_OBJECT ->
          HexFormat.of().formatHex(value.getBytes());
      case Value.ARRAY, Value.ROW -> plain(Arrays.asList(((ValueCollectionBase) value).getList()));
      case Value.JSON -> new Json(value.getString());
      default -> value.getString();
    };
  }

  /** A DECFLOAT may be infinite, or no number. */
  private static Object decimal(Value value) {
    String text = value.getString();
    return text.endsWith("y") || text.equals("NaN") ? text : value.getBigDecimal();
  }
}
