package dev.tollgate.seal;

import java.io.IOException;

/** Reports that something is sealed with a data key that this node was not given. */
public final class KeyMissingException extends IOException {
  private KeyMissingException(String message) {
    super(message);
  }

  static KeyMissingException off(String what, String keyId) {
    return new KeyMissingException(
        what
            + " is encrypted with data key '"
            + keyId
            + "', and this process has no data keys: give it --data-key-file or"
            + " --data-key-command, or dataKeyFile in the URL of a node in an application");
  }

  static KeyMissingException unknown(String what, String keyId, Object known) {
    return new KeyMissingException(
        what
            + " is encrypted with data key '"
            + keyId
            + "', which is none of the data keys "
            + known
            + ": add its line to them again");
  }

  static KeyMissingException other(String what, String keyId) {
    return new KeyMissingException(
        what
            + " is encrypted with another data key '"
            + keyId
            + "' than the one that this process was given: give it the key with which this was"
            + " written");
  }
}
