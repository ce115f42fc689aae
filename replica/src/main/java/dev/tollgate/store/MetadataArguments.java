package dev.tollgate.store;

import dev.tollgate.store.h2.SqlErrors;
import java.sql.SQLException;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of each method of H2's {@code DatabaseMetaServer}. H2 trusts its own driver, and
 * reads beyond the arguments or casts them. Here the arguments come from any client.
 */
final class MetadataArguments {
  /**
   * By method number: S a string, I a number, B a boolean, A an array; all but I and B may be null,
   * but not an element of an array.
   */
  private static final String[] KINDS = {
    "", "", "", "", "", "", "", "", "SSS", "SSSS", "SSSA", "", "", "", "SSSS", "SSSS", "SSS",
    "SSSIB", "SSS", "SSS", "SSS", "SSS", "SSSSSS", "", "SSSBB", "SSSA", "SSS", "SSS", "SSSS", "",
    "", "SS", "SSS", "SSSS", "SSSS"
  };

  private MetadataArguments() {}

  /**
   * Checks the arguments of a method.
   *
   * @throws SQLException with SQLState 22023 if there is no such method, or it takes other
   *     arguments
   */
  static void check(int method, Value[] arguments) throws SQLException {
    if (method < 0 || method >= KINDS.length) {
      throw SqlErrors.invalid("there is no metadata method " + method);
    }
    String kinds = KINDS[method];
    if (arguments.length != kinds.length()) {
      throw SqlErrors.invalid(
          "metadata method "
              + method
              + " takes "
              + kinds.length()
              + " arguments, not "
              + arguments.length);
    }
    for (int i = 0; i < arguments.length; i++) {
      String wrong = wrong(kinds.charAt(i), arguments[i]);
      if (wrong != null) {
        throw SqlErrors.invalid("argument " + (i + 1) + " of metadata method " + method + wrong);
      }
    }
  }

  /** What is wrong with an argument, or null. */
  private static @Nullable String wrong(char kind, Value argument) {
    boolean isNull = argument instanceof ValueNull;
    boolean fits =
        switch (kind) {
          case 'A' -> isNull || argument instanceof ValueArray;
          case 'I', 'B' -> !isNull;
          default -> true;
        };
    if (!fits) {
      return " has the wrong type";
    }
    return kind == 'A'
            && argument instanceof ValueArray array
            && List.of(array.getList()).contains(ValueNull.INSTANCE)
        ? " has an element that is null"
        : null;
  }
}
