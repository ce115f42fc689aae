package dev.tollgate.store.h2;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import org.h2.engine.Constants;

/**
 * Accesses the private fields of H2 {@value #BUILT_FOR}. Each class whose name begins with H2
 * accesses one part of H2, and fails when it is loaded if a field has moved. {@code H2SelfCheck}
 * loads all these classes when a node starts, and checks that the fields still mean what the
 * classes expect.
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
   * Returns a final field that is to be set all the same, which a handle cannot do.
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

  /** The error for a part of H2 that is not where it was. */
  static IllegalStateException moved(ReflectiveOperationException cause) {
    return new IllegalStateException(
        "H2 " + Constants.FULL_VERSION + " is not the one Tollgate was built for, " + BUILT_FOR,
        cause);
  }
}
