package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UniqueId;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import org.jspecify.annotations.Nullable;

/**
 * What a node says with each message to another node.
 *
 * @param from the node that sends
 * @param clusterId the cluster of the sender; null if the sender does not know it yet
 * @param incarnation the sender's incarnation
 * @param to the node that the message is for
 * @param expected the incarnation of that node in the replicated state; null if it has none there
 * @param adminUrl where the sender serves its admin address, without a path; null if it serves
 *     none, or does not say
 */
public record PeerCredentials(
    String from,
    @Nullable UniqueId clusterId,
    UniqueId incarnation,
    String to,
    @Nullable UniqueId expected,
    @Nullable String adminUrl) {
  private static final int VERSION = 1;

  public PeerCredentials {
    requireNonNull(from, "from");
    requireNonNull(incarnation, "incarnation");
    requireNonNull(to, "to");
  }

  /** Creates the credentials of a node that serves no admin address. */
  public PeerCredentials(
      String from,
      @Nullable UniqueId clusterId,
      UniqueId incarnation,
      String to,
      @Nullable UniqueId expected) {
    this(from, clusterId, incarnation, to, expected, /* adminUrl= */ null);
  }

  /** Returns what a node says to another node. */
  public static PeerCredentials of(NodeIdentity self, String to) {
    return new PeerCredentials(
        self.nodeId(),
        self.clusterId(),
        self.incarnation(),
        to,
        self.known().incarnations().get(to),
        self.adminUrl());
  }

  public byte[] toBytes() {
    WireWriter out = new WireWriter(96);
    out.u8(VERSION).string(from);
    write(out, clusterId);
    write(out, incarnation);
    out.string(to);
    write(out, expected);
    out.nullableString(adminUrl);
    return out.toByteArray();
  }

  /**
   * Reads what this version or a later one has written; later ones may append fields.
   *
   * @throws WireFormatException if these are no credentials
   */
  public static PeerCredentials read(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    in.u8();
    String from = name(in);
    UniqueId cluster = id(in);
    UniqueId incarnation = id(in);
    if (incarnation == null) {
      throw new WireFormatException("node " + from + " has no incarnation");
    }
    String to = name(in);
    UniqueId expected = id(in);
    String adminUrl = in.remaining() == 0 ? null : in.nullableString();
    return new PeerCredentials(from, cluster, incarnation, to, expected, adminUrl);
  }

  /** Whoever is refused is named in the log, so no name may look like a line of the log. */
  private static String name(WireReader in) {
    String name = in.string();
    if (name.codePoints().anyMatch(Character::isISOControl)) {
      throw new WireFormatException("control characters in the name of a node");
    }
    return name;
  }

  private static void write(WireWriter out, @Nullable UniqueId id) {
    out.flag(id != null);
    if (id != null) {
      out.i64(id.high()).i64(id.low());
    }
  }

  private static @Nullable UniqueId id(WireReader in) {
    return in.flag() ? new UniqueId(in.i64(), in.i64()) : null;
  }
}
