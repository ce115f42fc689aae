package dev.tollgate.h2;

import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.mvstore.db.MVDelegateIndex;
import org.h2.mvstore.db.MVSecondaryIndex;
import org.h2.result.SearchRow;
import org.h2.table.Column;
import org.h2.value.DataType;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * What a search in the tree of an index is bounded by.
 *
 * <p>A search compares its key with some keys of the tree, and which they are depends on the shape
 * of the tree and on earlier searches. So it must be an order that they are in, and no comparison
 * may fail. H2 sees to that where it knows the type of the value; that of a parameter it does not
 * know when it plans. Here the search leaves a value out that the order of the keys is not made
 * for. It then finds more rows, and the conditions of the statement, which are checked for each of
 * them, select or fail as they do without an index.
 */
public final class SearchKeys {
  /** The class of SQLStates of values that a type has no place for. */
  private static final String CONVERSION = "22";

  private SearchKeys() {}

  /** As in {@link Index#find}. */
  @Replaces(of = "org.h2.index.Index", in = "org.h2.index.IndexCursor")
  public static Cursor find(
      Index index,
      SessionLocal session,
      @Nullable SearchRow first,
      @Nullable SearchRow last,
      boolean reverse) {
    if (index instanceof MVSecondaryIndex || index instanceof MVDelegateIndex) {
      bound(index, session, first);
      bound(index, session, last);
    }
    return index.find(session, first, last, reverse);
  }

  /** The keys of a delegate are integers, among which H2 finds the place of any value, or fails. */
  private static void bound(Index index, SessionLocal session, @Nullable SearchRow key) {
    if (key == null) {
      return;
    }
    for (Column column : index.getColumns()) {
      int id = column.getColumnId();
      Value value = key.getValue(id);
      if (value == null) {
        return;
      }
      Value bound = inOrderOf(column.getType(), value, session);
      key.setValue(id, bound == null && index instanceof MVDelegateIndex ? value : bound);
    }
  }

  /** The value as it is compared with those of a column, or null if it has no place among them. */
  private static @Nullable Value inOrderOf(TypeInfo column, Value value, SessionLocal session) {
    int type = value.getValueType();
    boolean isPlain = type < Value.ENUM || type == Value.UUID;
    if (type == Value.NULL || (isPlain && type == column.getValueType())) {
      return value;
    }
    try {
      TypeInfo compared = TypeInfo.getHigherType(column, value.getType());
      if (DataType.isNumericType(column.getValueType())
          && DataType.isNumericType(compared.getValueType())) {
        return DataType.isNumericType(type) ? value : value.convertTo(Value.DECFLOAT, session);
      }
      return isOrderedAs(column, compared) ? value.convertTo(compared, session) : null;
    } catch (DbException e) {
      if (e.getSQLException().getSQLState().startsWith(CONVERSION)) {
        return null;
      }
      throw e;
    }
  }

  private static boolean isOrderedAs(TypeInfo column, TypeInfo compared) {
    if (column.getExtTypeInfo() instanceof TypeInfo element
        && compared.getExtTypeInfo() instanceof TypeInfo comparedElement) {
      return element.getValueType() == comparedElement.getValueType()
          && isOrderedAs(element, comparedElement);
    }
    return TypeInfo.haveSameOrdering(column, compared) && (isZoned(column) || !isZoned(compared));
  }

  /** The storage compares without a session, so it has no time zone for what has none. */
  private static boolean isZoned(TypeInfo type) {
    return type.getValueType() == Value.TIME_TZ || type.getValueType() == Value.TIMESTAMP_TZ;
  }
}
