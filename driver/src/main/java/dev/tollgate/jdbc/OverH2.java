package dev.tollgate.jdbc;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** An object of H2 as applications see it, where a few of its methods do something else. */
abstract class OverH2 implements InvocationHandler {
  private final Object h2;

  OverH2(Object h2) {
    this.h2 = requireNonNull(h2, "h2");
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    return switch (method.getName()) {
      case "equals" -> arguments != null && proxy == arguments[0];
      case "isWrapperFor" ->
          isTypeOf(proxy, arguments) || (boolean) requireNonNull(pass(method, arguments));
      case "unwrap" -> isTypeOf(proxy, arguments) ? proxy : pass(method, arguments);
      default -> pass(method, arguments);
    };
  }

  private static boolean isTypeOf(Object proxy, Object @Nullable [] arguments) {
    return arguments != null && arguments[0] instanceof Class<?> type && type.isInstance(proxy);
  }

  final @Nullable Object pass(Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(h2, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
