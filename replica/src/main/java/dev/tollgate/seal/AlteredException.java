package dev.tollgate.seal;

import java.io.IOException;

/** Reports that what is there is not what was sealed. */
public final class AlteredException extends IOException {
  AlteredException(String what, String keyId) {
    super(
        what
            + " is not what was encrypted with data key '"
            + keyId
            + "': it was changed, exchanged, or cut off");
  }

  AlteredException(String message) {
    super(message);
  }
}
