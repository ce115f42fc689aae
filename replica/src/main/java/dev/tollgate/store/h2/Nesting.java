package dev.tollgate.store.h2;

import dev.tollgate.core.command.Limits;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Map;
import org.h2.engine.Constants;
import org.h2.expression.Expression;
import org.h2.value.ExtTypeInfo;
import org.h2.value.ExtTypeInfoRow;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueCollectionBase;
import org.jspecify.annotations.Nullable;

/**
 * Measures arrays and rows within each other. H2 descends into them, and goes through a part as
 * often as it occurs. {@code ROW(C, C)} of {@code ROW(C, C)} and so on has any number of parts, and
 * takes no memory. So no code here asks H2 how large a nested value or type is.
 */
public final class Nesting {
  /** Bytes that H2 counts for an array or a row, without its elements. */
  private static final long COLLECTION_BYTES = 72;

  /**
   * Maximum bytes of one value, 256 MiB. All values of a logged statement may take half as much.
   */
  private static final long VALUE_BYTES = 2 * Limits.STATEMENT_WRITTEN_BYTES;

  private Nesting() {}

  private record Level(TypeInfo type, int depth) {}

  /**
   * Refuses columns of a type that is nested too deep or has too many parts.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  public static void requireTypes(Collection<? extends Expression> columns) {
    for (Expression column : columns) {
      requireType(column.getType());
    }
  }

  /**
   * Refuses a type that is nested too deep or has too many parts. No snapshot could restore stored
   * values of such a type, and no client could read them.
   *
   * @param type null while H2 does not know the type
   * @throws org.h2.message.DbException with SQLState 54001
   */
  public static void requireType(@Nullable TypeInfo type) {
    if (type == null || type.getExtTypeInfo() == null) {
      return;
    }
    Deque<Level> open = new ArrayDeque<>();
    open.push(new Level(type, 0));
    int parts = 0;
    while (!open.isEmpty()) {
      Level level = open.pop();
      parts++;
      if (level.depth > Limits.VALUE_DEPTH) {
        throw Exhausted.work(
            "the statement was refused and changed nothing, because an array or row in it is nested"
                + " deeper than "
                + Limits.VALUE_DEPTH
                + " levels: keep its parts in columns or in a table of their own, or make it JSON");
      }
      if (parts + open.size() > Limits.TYPE_PARTS) {
        throw Exhausted.work(
            "the statement was refused and changed nothing, because a row in it has more than "
                + Limits.TYPE_PARTS
                + " fields, with those of the rows within it: keep its parts in columns or in a"
                + " table of their own, or make it JSON");
      }
      ExtTypeInfo more = level.type.getExtTypeInfo();
      if (more instanceof TypeInfo element) {
        open.push(new Level(element, level.depth + 1));
      } else if (more instanceof ExtTypeInfoRow row) {
        for (Map.Entry<String, TypeInfo> field : row.getFields()) {
          open.push(new Level(field.getValue(), level.depth + 1));
        }
      }
    }
  }

  /**
   * Returns the bytes that a value takes in memory.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if the value takes more than any value
   *     may
   */
  public static long requireBytes(Value value) {
    long bytes = bytesOf(value, VALUE_BYTES);
    if (bytes > VALUE_BYTES) {
      throw Exhausted.work(
          "the statement was ended and its changes undone, because it made an array or row of more"
              + " than "
              + VALUE_BYTES
              + " bytes, each part counted as often as it occurs: work on its parts");
    }
    return bytes;
  }

  /**
   * Returns the bytes that the values of a row take in memory; a null takes none.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if one value takes more than any value
   *     may
   */
  public static long requireBytes(@Nullable Value[] row) {
    long bytes = 0;
    for (Value value : row) {
      if (value != null) {
        bytes += requireBytes(value);
      }
    }
    return bytes;
  }

  /**
   * Returns the bytes that H2 counts for a value, with each part counted as often as it occurs.
   *
   * @param most where to stop counting: a larger result may cover only part of the value
   */
  public static long bytesOf(Value value, long most) {
    if (!(value instanceof ValueCollectionBase)) {
      return value.getMemory();
    }
    long bytes = 0;
    Deque<Value> open = new ArrayDeque<>();
    open.push(value);
    while (!open.isEmpty() && bytes <= most) {
      Value part = open.pop();
      if (part instanceof ValueCollectionBase collection) {
        Value[] elements = collection.getList();
        bytes += COLLECTION_BYTES + (long) elements.length * Constants.MEMORY_POINTER;
        for (int i = 0; i < elements.length && bytes <= most; i++) {
          if (elements[i] instanceof ValueCollectionBase) {
            open.push(elements[i]);
          } else {
            bytes += elements[i].getMemory();
          }
        }
      } else {
        bytes += part.getMemory();
      }
    }
    return bytes;
  }
}
