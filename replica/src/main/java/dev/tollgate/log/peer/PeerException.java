package dev.tollgate.log.peer;

import java.io.IOException;

/** Another node has not carried out a call; the message says why, in its own words. */
final class PeerException extends IOException {
  private static final long serialVersionUID = 1L;

  PeerException(String message) {
    super(message);
  }
}
