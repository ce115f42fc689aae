package dev.tollgate.log.ratis;

import java.lang.reflect.Field;

/** What Ratis keeps to itself, for the classes that have to reach into it. */
final class RatisInternals {
  private RatisInternals() {}

  /**
   * A field that a class declares, whoever may see it.
   *
   * @throws NoSuchFieldException if this Ratis is not the one that the caller was written for
   */
  static Field field(Class<?> type, String name) throws NoSuchFieldException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
