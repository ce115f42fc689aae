package dev.tollgate.store.schema;

import dev.tollgate.core.command.Limits;
import org.h2.message.DbException;
import org.h2.util.StringUtils;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * REPEAT, SPACE, LPAD, RPAD and REPLACE in schema TOLLGATE. They work as in H2, except that they
 * compute the length of the result first. H2 builds the result, however many gigabytes it has, and
 * then refuses to keep it.
 */
public final class StringFunctions {
  private StringFunctions() {}

  public static @Nullable String repeat(Value text, Value count) {
    if (isNull(text) || isNull(count)) {
      return null;
    }
    String part = text.getString();
    int times = Math.max(count.getInt(), 0);
    requireRoom(part, (long) part.length() * times);
    return part.repeat(times);
  }

  public static @Nullable String space(Value count) {
    if (isNull(count)) {
      return null;
    }
    int length = Math.max(count.getInt(), 0);
    requireRoom(" ", length);
    return " ".repeat(length);
  }

  public static @Nullable String lpad(Value text, Value length) {
    return pad(text, length, null, /* right= */ false);
  }

  public static @Nullable String lpad(Value text, Value length, Value padding) {
    return pad(text, length, padding, /* right= */ false);
  }

  public static @Nullable String rpad(Value text, Value length) {
    return pad(text, length, null, /* right= */ true);
  }

  public static @Nullable String rpad(Value text, Value length, Value padding) {
    return pad(text, length, padding, /* right= */ true);
  }

  public static @Nullable String replace(Value text, Value before) {
    return isNull(text) || isNull(before)
        ? null
        : replaced(text.getString(), before.getString(), "");
  }

  public static @Nullable String replace(Value text, Value before, Value after) {
    return isNull(text) || isNull(before) || isNull(after)
        ? null
        : replaced(text.getString(), before.getString(), after.getString());
  }

  private static @Nullable String pad(
      Value text, Value length, @Nullable Value padding, boolean right) {
    if (isNull(text) || isNull(length) || (padding != null && isNull(padding))) {
      return null;
    }
    String padded = text.getString();
    requireRoom(padded, length.getInt());
    return StringUtils.pad(
        padded, length.getInt(), padding == null ? null : padding.getString(), right);
  }

  private static String replaced(String text, String before, String after) {
    if (!before.isEmpty() && after.length() > before.length()) {
      long found = 0;
      for (int at = text.indexOf(before);
          at >= 0;
          at = text.indexOf(before, at + before.length())) {
        found++;
      }
      requireRoom(text, text.length() + found * (after.length() - before.length()));
    }
    return StringUtils.replaceAll(text, before, after);
  }

  private static boolean isNull(Value value) {
    return value.getValueType() == Value.NULL;
  }

  private static void requireRoom(String text, long chars) {
    if (chars > Limits.STRING_CHARS) {
      throw DbException.getValueTooLongException("CHARACTER VARYING", text, chars);
    }
  }
}
