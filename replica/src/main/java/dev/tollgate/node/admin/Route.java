package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What the admin address serves at a path.
 *
 * @param method in upper case; GET serves HEAD too
 * @param path exact, or the beginning of all paths that it serves if it ends with a slash
 * @param gate bounds the requests that are under way
 * @param page makes the answer, on a thread that may wait for some seconds
 */
public record Route(String method, String path, Audience audience, Gate gate, Page page) {
  /** Makes the answer to a request. */
  public interface Page {
    Answer answer(AdminRequest request);
  }

  /**
   * Counts requests from their head, before the body is read, to the end of their answer: a client
   * that sends or reads slowly counts too. Thread-safe.
   */
  public interface Gate {
    /** Takes any number of requests. */
    Gate OPEN =
        new Gate() {
          @Override
          public @Nullable Answer enter(Caller caller) {
            return null;
          }

          @Override
          public void leave(Caller caller) {}
        };

    /** Counts a request and returns null, or returns why there is no room for it. */
    @Nullable Answer enter(Caller caller);

    /** A request that was counted has ended. */
    void leave(Caller caller);
  }

  /** Makes a route whose requests are not counted. */
  public Route(String method, String path, Audience audience, Page page) {
    this(method, path, audience, Gate.OPEN, page);
  }

  public Route {
    requireNonNull(method, "method");
    requireNonNull(audience, "audience");
    requireNonNull(gate, "gate");
    requireNonNull(page, "page");
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("path " + path);
    }
  }

  boolean serves(String requested) {
    return (path.endsWith("/") && path.length() > 1)
        ? requested.startsWith(path)
        : requested.equals(path);
  }

  /** What follows this path in a requested one. */
  String rest(String requested) {
    return requested.substring(path.length());
  }
}
