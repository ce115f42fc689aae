package dev.tollgate.transport;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The other side sent bytes that no node sends. */
final class ForeignProtocolException extends IOException {
  private static final long serialVersionUID = 1L;

  ForeignProtocolException(String what) {
    this(what, null);
  }

  ForeignProtocolException(String what, @Nullable Throwable cause) {
    super("it does not speak Tollgate's protocol, but sent " + what, cause);
  }
}
