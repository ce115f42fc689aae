package dev.tollgate.log.ratis;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Access to internals of Ratis, for the classes that have to reach into it. */
final class RatisInternals {
  private RatisInternals() {}

  /**
   * Returns a field that a class declares, whatever its visibility.
   *
   * @throws NoSuchFieldException if this Ratis is not the version that the caller was written for
   */
  static Field field(Class<?> type, String name) throws NoSuchFieldException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /**
   * Returns a method that a class declares, whatever its visibility.
   *
   * @throws NoSuchMethodException if this Ratis is not the version that the caller was written for
   */
  static Method method(Class<?> type, String name, Class<?>... parameters)
      throws NoSuchMethodException {
    Method method = type.getDeclaredMethod(name, parameters);
    method.setAccessible(true);
    return method;
  }
}
