package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client says of channel binding: whether it proves on which TLS channel it is (RFC 5802,
 * section 6; RFC 5929, section 4). A proof that a man in the middle passes on then fails.
 * Immutable.
 */
public final class ScramBinding {
  /** The mechanism without channel binding. */
  public static final String PLAIN = "SCRAM-SHA-256";

  /** The mechanism with channel binding. */
  public static final String PLUS = "SCRAM-SHA-256-PLUS";

  /** The client has no channel to bind to. */
  static final String NONE = "n";

  /** The client could bind, but the node offers no mechanism that does. */
  static final String NOT_OFFERED = "y";

  /** The client binds to the certificate of the node. */
  static final String END_POINT = "p=tls-server-end-point";

  private final String flag;
  private final byte[] data;

  private ScramBinding(String flag, byte[] data) {
    this.flag = flag;
    this.data = data;
  }

  /**
   * Chooses for a client.
   *
   * @param channelBinding {@code tls-server-end-point} of the channel, null without TLS
   * @param offered the mechanisms that the node offers
   */
  public static ScramBinding choose(byte @Nullable [] channelBinding, List<String> offered) {
    if (channelBinding == null) {
      return new ScramBinding(NONE, new byte[0]);
    }
    return requireNonNull(offered, "offered").contains(PLUS)
        ? new ScramBinding(END_POINT, channelBinding.clone())
        : new ScramBinding(NOT_OFFERED, new byte[0]);
  }

  /** The mechanism that belongs to it. */
  public String mechanism() {
    return flag.equals(END_POINT) ? PLUS : PLAIN;
  }

  /** How the first message of the client begins. */
  String header() {
    return flag + ",,";
  }

  /** The value of the attribute c in the last message of the client. */
  String attribute() {
    return attribute(header(), data);
  }

  static String attribute(String header, byte[] data) {
    byte[] start = header.getBytes(StandardCharsets.US_ASCII);
    WireWriter out = new WireWriter(start.length + data.length);
    out.raw(start, 0, start.length).raw(data, 0, data.length);
    return Base64.getEncoder().encodeToString(out.toByteArray());
  }
}
