package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

/**
 * One message with the header that every message has.
 *
 * <p>Layout: length i32 of what follows | type u8 | losses u8 | request id i64 | deadline i32 |
 * body. A reply carries the request id of its request; an event carries 0.
 */
public final class Frame {
  /** The highest count of losses: so many, or more. */
  private static final int MOST_LOSSES = 255;

  private final int type;
  private final int losses;
  private final long requestId;
  private final int deadlineMillis;
  private final byte[] body;

  /** A frame whose connection is the first that has the message. */
  public Frame(int type, long requestId, int deadlineMillis, byte[] body) {
    this(type, /* losses= */ 0, requestId, deadlineMillis, body);
  }

  /**
   * @param losses the number of connections that were lost while the reply to this request was due
   *     on them; 0 for replies and events
   * @param deadlineMillis how long the client waits for the reply, 0 for no limit; nodes of this
   *     version do not use it
   * @param body taken over, not copied
   */
  public Frame(int type, int losses, long requestId, int deadlineMillis, byte[] body) {
    if (losses < 0) {
      throw new IllegalArgumentException("losses " + losses);
    }
    if (type < 0 || type > 255) {
      throw new IllegalArgumentException("type " + type);
    }
    if (deadlineMillis < 0) {
      throw new IllegalArgumentException("deadline " + deadlineMillis + " ms");
    }
    this.type = type;
    this.losses = Math.min(losses, MOST_LOSSES);
    this.requestId = requestId;
    this.deadlineMillis = deadlineMillis;
    this.body = requireNonNull(body, "body");
  }

  public int type() {
    return type;
  }

  /**
   * The number of connections that were lost while the reply to this request was due on them, at
   * most 255.
   */
  public int losses() {
    return losses;
  }

  public long requestId() {
    return requestId;
  }

  public int deadlineMillis() {
    return deadlineMillis;
  }

  /** The bytes themselves, not a copy. */
  public byte[] body() {
    return body;
  }

  /** Bytes after the length field. */
  public int lengthBytes() {
    return Protocol.HEADER_BYTES + body.length;
  }

  /** Writes the header, from the length field up to where the body begins. */
  public void writeHeader(WireWriter out) {
    out.i32(lengthBytes()).u8(type).u8(losses).i64(requestId).i32(deadlineMillis);
  }

  /**
   * Reads a frame from the bytes after its length field.
   *
   * @throws WireFormatException if the bytes are not a frame of this version
   */
  public static Frame read(WireReader in) {
    int type = in.u8();
    int losses = in.u8();
    long requestId = in.i64();
    int deadlineMillis = in.i32();
    if (deadlineMillis < 0) {
      throw new WireFormatException("deadline " + deadlineMillis);
    }
    return new Frame(type, losses, requestId, deadlineMillis, in.rest());
  }

  @Override
  public String toString() {
    return String.format("frame 0x%02x #%d, %d bytes", type, requestId, body.length);
  }
}
