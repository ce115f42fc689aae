package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Proofs that both nodes of a connection know the key of their cluster: HMAC-SHA-256 with the key
 * over all that the two have said of themselves. A proof is of no use on another connection, for
 * both sides have drawn a number for this one; nor for the other side, nor under another name.
 */
final class ClusterProof {
  private static final int NONCE_BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The node that gives a proof. */
  enum Side {
    CALLER,
    LISTENER
  }

  private final byte[] callerNonce;
  private final byte[] listenerNonce;
  private final String listener;
  private final UniqueId listenerIncarnation;

  /**
   * @param callerNonce what the caller has drawn for this connection
   * @param listenerNonce what the node that it calls has drawn
   * @param listener the node that is called
   */
  ClusterProof(
      byte[] callerNonce, byte[] listenerNonce, String listener, UniqueId listenerIncarnation) {
    this.callerNonce = requireNonNull(callerNonce, "callerNonce");
    this.listenerNonce = requireNonNull(listenerNonce, "listenerNonce");
    this.listener = requireNonNull(listener, "listener");
    this.listenerIncarnation = requireNonNull(listenerIncarnation, "listenerIncarnation");
  }

  /** Draws what makes the proofs of a connection its own. */
  static byte[] drawNonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  /** Reads what {@link #drawNonce} has drawn elsewhere. */
  static byte[] readNonce(WireReader in) {
    byte[] nonce = in.bytes();
    if (nonce.length != NONCE_BYTES) {
      throw new WireFormatException("a nonce of " + nonce.length + " bytes");
    }
    return nonce;
  }

  /** Writes a proof, if there is one. */
  static WireWriter write(WireWriter out, byte @Nullable [] proof) {
    out.flag(proof != null);
    return proof == null ? out : out.bytes(proof);
  }

  /** Reads what {@link #write} has written. */
  static byte @Nullable [] read(WireReader in) {
    return in.flag() ? in.bytes() : null;
  }

  /**
   * Returns the proof of one side.
   *
   * @param known what the node that proves, or checks, knows of its cluster
   * @param credentials what the caller has said of itself
   * @return null if that node does not know the key
   */
  byte @Nullable [] of(ClusterIdentity known, Side side, byte[] credentials) {
    ClusterKey key = known.key();
    UniqueId cluster = known.clusterId();
    if (key == null || cluster == null) {
      return null;
    }
    WireWriter text =
        new WireWriter(256)
            .string("tollgate " + side)
            .bytes(callerNonce)
            .bytes(listenerNonce)
            .bytes(credentials)
            .string(listener);
    for (UniqueId id : new UniqueId[] {listenerIncarnation, cluster}) {
      text.i64(id.high()).i64(id.low());
    }
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key.toBytes(), ALGORITHM));
      mac.update(text.array(), 0, text.size());
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  /**
   * True if this is the proof of that side.
   *
   * @param proof null if it has given none
   */
  boolean isGiven(ClusterIdentity known, Side side, byte[] credentials, byte @Nullable [] proof) {
    byte[] right = proof == null ? null : of(known, side, credentials);
    return right != null && MessageDigest.isEqual(right, proof);
  }
}
