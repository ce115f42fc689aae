package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The node's side of one exchange of SCRAM-SHA-256 or SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677):
 * {@link #user}, {@link #challenge}, {@link #verify}. Single use; not thread-safe.
 *
 * <p>A user may have two passwords at a time. A client computes with one salt, so both verifiers
 * must have the same salt and the same iterations. The proof is checked against both.
 */
public final class ScramServer {
  /** Most verifiers of one user: the old password and the new one. */
  public static final int MAX_VERIFIERS = 2;

  private static final int MAX_USER_CHARS = 255;

  private final byte @Nullable [] channelBinding;
  private final String nonce;
  private final String header;
  private final String firstBare;
  private final String user;
  private final String clientNonce;
  private @Nullable String serverFirst;
  private String jointNonce = "";

  /**
   * Reads the first message of a client.
   *
   * @param mechanism {@link ScramBinding#PLAIN} or {@link ScramBinding#PLUS}
   * @param channelBinding {@code tls-server-end-point} of the channel; null if there is none, and
   *     PLUS was not offered
   * @throws ScramException if the message is malformed, or if it says that PLUS was not offered
   *     where it was: then somebody between client and node has removed the offer
   */
  public ScramServer(String mechanism, byte @Nullable [] channelBinding, byte[] first)
      throws ScramException {
    this(mechanism, channelBinding, first, ScramText.newNonce());
  }

  /** Uses a nonce of the caller, for tests. */
  ScramServer(String mechanism, byte @Nullable [] channelBinding, byte[] first, String nonce)
      throws ScramException {
    this.channelBinding = channelBinding == null ? null : channelBinding.clone();
    this.nonce = nonce;
    String message = ScramText.message(first);
    String[] parts = message.split(",", 3);
    if (parts.length < 3) {
      throw new ScramException("a first message has a binding, a user and a nonce");
    }
    requireBinding(requireNonNull(mechanism, "mechanism"), parts[0]);
    header = parts[0] + "," + parts[1] + ",";
    firstBare = parts[2];
    String[] attributes = firstBare.split(",", -1);
    if (attributes.length < 2) {
      throw new ScramException("a first message has a user and a nonce");
    }
    user = ScramText.unescaped(ScramText.value("n", attributes[0]));
    if (user.length() > MAX_USER_CHARS) {
      throw new ScramException("a user name has at most " + MAX_USER_CHARS + " characters");
    }
    clientNonce = ScramText.nonce(attributes[1]);
    if (!parts[1].isEmpty() && !parts[1].equals("a=" + ScramText.escaped(user))) {
      throw new ScramException("a user acts for itself only");
    }
  }

  private void requireBinding(String mechanism, String flag) throws ScramException {
    boolean offered = channelBinding != null;
    if (mechanism.equals(ScramBinding.PLUS)) {
      if (!offered || !flag.equals(ScramBinding.END_POINT)) {
        throw new ScramException("the client binds to a channel that is not this one");
      }
    } else if (!mechanism.equals(ScramBinding.PLAIN)) {
      throw new ScramException("the mechanism is none that the node offers");
    } else if (flag.equals(ScramBinding.NOT_OFFERED) && offered) {
      throw new ScramException(
          "the client says that the node offers no channel binding, but the node does");
    } else if (!flag.equals(ScramBinding.NONE) && !flag.equals(ScramBinding.NOT_OFFERED)) {
      throw new ScramException("the client's channel binding does not belong to its mechanism");
    }
  }

  /** The user name that the client sent. */
  public String user() {
    return user;
  }

  /** Returns the challenge for a user whose verifiers have this salt. */
  public byte[] challenge(byte[] salt, int iterations) {
    jointNonce = clientNonce + nonce;
    String challenge =
        "r=" + jointNonce + ",s=" + Base64.getEncoder().encodeToString(salt) + ",i=" + iterations;
    serverFirst = challenge;
    return ScramText.bytes(challenge);
  }

  /**
   * Checks the last message of the client. Takes the same time for each number of verifiers.
   *
   * @param verifiers of the user, at most {@link #MAX_VERIFIERS}; none for a user that does not
   *     exist
   * @return the node's proof for the client, or null if the client's proof fits no verifier
   * @throws ScramException if the message is malformed, or bound to another channel
   */
  public byte @Nullable [] verify(byte[] last, List<PasswordVerifier> verifiers)
      throws ScramException {
    String sent = serverFirst;
    serverFirst = null;
    if (sent == null) {
      throw new ScramException("a proof without a challenge");
    }
    String message = ScramText.message(last);
    int end = message.lastIndexOf(",p=");
    String[] attributes = message.split(",", -1);
    if (end < 0 || attributes.length < 3) {
      throw new ScramException("a last message has a binding, a nonce and a proof");
    }
    requireSameBinding(attributes[0]);
    if (!ScramText.nonce(attributes[1]).equals(jointNonce)) {
      throw new ScramException("the proof answers another challenge");
    }
    byte[] proof = ScramText.base64("p", attributes[attributes.length - 1]);
    if (proof.length != ScramKeys.KEY_BYTES) {
      throw new ScramException("a proof has " + ScramKeys.KEY_BYTES + " bytes");
    }
    String authMessage = firstBare + "," + sent + "," + message.substring(0, end);
    return signature(proof, authMessage, verifiers);
  }

  private void requireSameBinding(String attribute) throws ScramException {
    byte[] binding = channelBinding;
    boolean bound = header.startsWith(ScramBinding.END_POINT);
    byte[] data = binding != null && bound ? binding : new byte[0];
    String expected = ScramBinding.attribute(header, data);
    if (!ScramText.value("c", attribute).equals(expected)) {
      throw new ScramException("the client binds to a channel that is not this one");
    }
  }

  private static byte @Nullable [] signature(
      byte[] proof, String authMessage, List<PasswordVerifier> verifiers) {
    PasswordVerifier nobody =
        PasswordVerifier.ofNobody(
            new byte[PasswordVerifier.SALT_BYTES], PasswordVerifier.DEFAULT_ITERATIONS);
    PasswordVerifier accepting = nobody;
    boolean accepted = false;
    for (int i = 0; i < MAX_VERIFIERS; i++) {
      boolean real = i < verifiers.size();
      PasswordVerifier verifier = real ? verifiers.get(i) : nobody;
      if (verifier.accepts(proof, authMessage) && real) {
        accepting = verifier;
        accepted = true;
      }
    }
    byte[] signature = accepting.signature(authMessage);
    return accepted ? ScramText.bytes("v=" + Base64.getEncoder().encodeToString(signature)) : null;
  }
}
