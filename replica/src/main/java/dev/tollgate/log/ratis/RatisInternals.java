package dev.tollgate.log.ratis;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Access to internals of Ratis, for the classes that have to reach into it. DESIGN.md lists the
 * members: a new one belongs there, and an upgrade of Ratis goes through that list.
 */
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

  /** Returns the only constructor of a class, whatever its visibility. */
  static Constructor<?> constructor(Class<?> type) throws NoSuchMethodException {
    Constructor<?>[] all = type.getDeclaredConstructors();
    if (all.length != 1) {
      throw new NoSuchMethodException(type + " has " + all.length + " constructors");
    }
    all[0].setAccessible(true);
    return all[0];
  }
}
