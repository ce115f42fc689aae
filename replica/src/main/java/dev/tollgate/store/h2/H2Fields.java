package dev.tollgate.store.h2;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import org.h2.engine.Constants;

/**
 * Reaches the private fields of H2 {@value #BUILT_FOR}. Each class whose name begins with H2
 * reaches into one part of it, and fails when it is loaded if a field has moved. {@code
 * H2SelfCheck} loads them all when a node starts, and makes sure that the fields still mean what is
 * meant here.
 */
public final class H2Fields {
  /** The version of H2 that these classes were written against. */
  public static final String BUILT_FOR = "2.5.250";

  private H2Fields() {}

  /**
   * @throws IllegalStateException if the class has no such field
   */
  static VarHandle field(Class<?> owner, String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findVarHandle(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw moved(e);
    }
  }

  /**
   * @throws IllegalStateException if the class has no such static field
   */
  static VarHandle staticField(Class<?> owner, String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findStaticVarHandle(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw moved(e);
    }
  }

  /**
   * A field that is set all the same, which a handle cannot.
   *
   * @throws IllegalStateException if the class has no such field
   */
  static Field finalField(Class<?> owner, String name) {
    try {
      Field field = owner.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (ReflectiveOperationException e) {
      throw moved(e);
    }
  }

  /** Something of H2 is not where it was. */
  static IllegalStateException moved(ReflectiveOperationException cause) {
    return new IllegalStateException(
        "H2 " + Constants.FULL_VERSION + " is not the one Tollgate was built for, " + BUILT_FOR,
        cause);
  }
}
