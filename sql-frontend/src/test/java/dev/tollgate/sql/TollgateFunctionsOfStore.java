package dev.tollgate.sql;

import org.h2.util.StringUtils;
import org.jspecify.annotations.Nullable;

/** What the store puts in the place of H2's own functions, here without its limit. */
public final class TollgateFunctionsOfStore {

  private TollgateFunctionsOfStore() {}

  public static @Nullable String lpad(@Nullable String text, @Nullable Integer length) {
    return lpad(text, length, " ");
  }

  public static @Nullable String lpad(
      @Nullable String text, @Nullable Integer length, @Nullable String padding) {
    return text == null || length == null ? null : StringUtils.pad(text, length, padding, false);
  }

  public static @Nullable String rpad(@Nullable String text, @Nullable Integer length) {
    return rpad(text, length, " ");
  }

  public static @Nullable String rpad(
      @Nullable String text, @Nullable Integer length, @Nullable String padding) {
    return text == null || length == null ? null : StringUtils.pad(text, length, padding, true);
  }

  public static @Nullable String repeat(@Nullable String text, @Nullable Integer count) {
    return text == null || count == null ? null : text.repeat(Math.max(0, count));
  }

  public static @Nullable String replace(@Nullable String text, @Nullable String before) {
    return replace(text, before, "");
  }

  public static @Nullable String replace(
      @Nullable String text, @Nullable String before, @Nullable String after) {
    return text == null || before == null || after == null
        ? null
        : StringUtils.replaceAll(text, before, after);
  }

  public static @Nullable String space(@Nullable Integer count) {
    return count == null ? null : " ".repeat(Math.max(0, count));
  }
}
