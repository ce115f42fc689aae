package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.security.MessageDigest;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of one exchange of SCRAM-SHA-256 or SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677):
 * {@link #first}, {@link #last}, {@link #requireSigned}. Single use; not thread-safe.
 */
public final class ScramClient {
  /** Derives a salted password, or remembers it: that is the expensive step. */
  public interface SaltedPassword {
    /** See {@link ScramKeys#saltedPassword}. */
    byte[] with(byte[] salt, int iterations);
  }

  private final ScramBinding binding;
  private final String nonce;
  private final String firstBare;
  private final int leastIterations;
  private byte @Nullable [] signature;

  /** Takes the fewest iterations that RFC 7677 allows. */
  public ScramClient(String user, ScramBinding binding) {
    this(user, binding, PasswordVerifier.MIN_ITERATIONS);
  }

  /**
   * @param leastIterations for which this side gives a proof: whoever pretends to be a node guesses
   *     the password from a proof, and each guess costs that many
   */
  public ScramClient(String user, ScramBinding binding, int leastIterations) {
    this(user, binding, leastIterations, ScramText.newNonce());
  }

  /** Uses a nonce of the caller, for tests. */
  ScramClient(String user, ScramBinding binding, String nonce) {
    this(user, binding, PasswordVerifier.MIN_ITERATIONS, nonce);
  }

  private ScramClient(String user, ScramBinding binding, int leastIterations, String nonce) {
    this.leastIterations = leastIterations;
    this.binding = requireNonNull(binding, "binding");
    this.nonce = nonce;
    this.firstBare = "n=" + ScramText.escaped(user) + ",r=" + nonce;
  }

  /** The first message of the exchange. */
  public byte[] first() {
    return ScramText.bytes(binding.header() + firstBare);
  }

  /**
   * Answers the node's challenge with a proof.
   *
   * @throws ScramException if the challenge belongs to another exchange, or asks for fewer or more
   *     iterations than a verifier may have
   * @throws IllegalArgumentException if the password has a prohibited character
   */
  public byte[] last(byte[] challenge, SaltedPassword password) throws ScramException {
    String serverFirst = ScramText.message(challenge);
    String[] attributes = serverFirst.split(",", -1);
    if (attributes.length < 3) {
      throw new ScramException("a challenge has a nonce, a salt and iterations");
    }
    String joint = ScramText.nonce(attributes[0]);
    if (!joint.startsWith(nonce) || joint.length() == nonce.length()) {
      throw new ScramException("the challenge answers another client");
    }
    byte[] salt = ScramText.base64("s", attributes[1]);
    int iterations = iterations(attributes[2]);
    try {
      PasswordVerifier.requireBounds(salt, iterations);
    } catch (IllegalArgumentException e) {
      throw new ScramException(String.valueOf(e.getMessage()));
    }
    if (iterations < leastIterations) {
      throw new ScramException(
          "it asks for "
              + iterations
              + " iterations, fewer than "
              + leastIterations
              + ", so that a password would be guessed from the answer");
    }
    byte[] salted = password.with(salt, iterations);
    byte[] clientKey = ScramKeys.clientKey(salted);
    String withoutProof = "c=" + binding.attribute() + ",r=" + joint;
    String authMessage = firstBare + "," + serverFirst + "," + withoutProof;
    byte[] proof =
        ScramKeys.xor(clientKey, ScramKeys.hmac(ScramKeys.storedKey(clientKey), authMessage));
    signature = ScramKeys.hmac(ScramKeys.serverKey(salted), authMessage);
    return ScramText.bytes(withoutProof + ",p=" + Base64.getEncoder().encodeToString(proof));
  }

  private static int iterations(String attribute) throws ScramException {
    String text = ScramText.value("i", attribute);
    if (!text.matches("[1-9]\\d{0,8}")) {
      throw new ScramException("iterations that are no number");
    }
    return Integer.parseInt(text);
  }

  /**
   * Checks that the node has the user's verifier.
   *
   * @throws ScramException if it has not proven that
   */
  public void requireSigned(byte[] serverFinal) throws ScramException {
    byte[] expected = signature;
    signature = null;
    String first = ScramText.message(serverFinal).split(",", 2)[0];
    if (expected == null || !MessageDigest.isEqual(expected, ScramText.base64("v", first))) {
      throw new ScramException("the node does not prove that it knows the user");
    }
  }
}
