package dev.tollgate.log.ratis;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.ratis.util.MemoizedSupplier;

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

  /**
   * Adapts an object that is not made yet, as soon as it is made and before anything has it.
   *
   * @param supplier the field with the supplier that makes it, a {@link MemoizedSupplier}
   * @throws ReflectiveOperationException if this Ratis is not the version that the caller was
   *     written for
   */
  static void whenMade(Object owner, String supplier, UnaryOperator<Object> adapted)
      throws ReflectiveOperationException {
    Object memoized = field(owner.getClass(), supplier).get(owner);
    Field initializer = field(MemoizedSupplier.class, "initializer");
    Supplier<?> original = (Supplier<?>) initializer.get(memoized);
    initializer.set(memoized, (Supplier<Object>) () -> adapted.apply(original.get()));
  }
}
