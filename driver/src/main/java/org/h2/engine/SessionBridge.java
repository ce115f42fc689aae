package org.h2.engine;

import org.jspecify.annotations.NullMarked;

/**
 * The one place where the driver reaches into H2: {@link Session} can be extended in its own
 * package only. Built for H2 {@value #BUILT_FOR}, and refuses to work with another, because what
 * H2's JDBC classes ask of a session is no published interface.
 */
@NullMarked
public abstract class SessionBridge extends Session {
  private static final String BUILT_FOR = "2.5.250";

  /**
   * @throws IllegalStateException if another H2 is on the class path
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

  /** Read from the class, because the compiler would copy the constant of the H2 it sees. */
  private static String versionOnClassPath() {
    try {
      return String.valueOf(Constants.class.getField("VERSION").get(null));
    } catch (ReflectiveOperationException e) {
      return "an unknown version";
    }
  }
}
