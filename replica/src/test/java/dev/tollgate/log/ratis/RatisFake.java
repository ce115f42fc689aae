package dev.tollgate.log.ratis;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Supplier;

/** Answers some questions of an interface of Ratis, and fails at any other as a closed log does. */
final class RatisFake {
  /** The answer null. */
  static final Object NOTHING = new Object();

  private RatisFake() {}

  /**
   * @param answers by the name of the method; what a {@link Supplier} gives is another answer each
   *     time
   */
  static <T> T of(Class<T> type, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer = answers.get(method.getName());
              if (answer == null) {
                throw new IllegalStateException(method.getName() + " of what is CLOSED");
              }
              if (answer instanceof Supplier<?> answersInTurn) {
                return answersInTurn.get();
              }
              return answer == NOTHING ? null : answer;
            }));
  }
}
