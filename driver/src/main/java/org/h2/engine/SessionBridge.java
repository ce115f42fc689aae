package org.h2.engine;

import org.jspecify.annotations.NullMarked;

/**
 * The driver's one access to H2's internals: {@link Session} can be extended in its own package
 * only. This class is built for H2 {@value #BUILT_FOR} and rejects any other version. The calls
 * that H2's JDBC classes make on a session are not a published interface.
 */
@NullMarked
public abstract class SessionBridge extends Session {
  private static final String BUILT_FOR = "2.5.250";

  /**
   * @throws IllegalStateException if another version of H2 is on the class path
   */
  protected SessionBridge() {
    String found = versionOnClassPath();
    if (!found.equals(BUILT_FOR)) {
      throw new IllegalStateException(
          "The Tollgate driver is built on the classes of H2 "
              + BUILT_FOR
              + " and found those of "
              + found
              + ". Use the artifact dev.tollgate:tollgate-jdbc, which brings its own.");
    }
  }

  /**
   * Reads the field by reflection, because the compiler would copy the constant of the H2 it sees.
   */
  private static String versionOnClassPath() {
    try {
      return String.valueOf(Constants.class.getField("VERSION").get(null));
    } catch (ReflectiveOperationException e) {
      return "an unknown version";
    }
  }
}
