package dev.tollgate.log.entry;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Log entries as bytes: version u8, stamp i64, in version 2 the digest of what the leader has
 * applied (log index i64, value i64), count i32, commands. Entries without a digest have version 1.
 */
public final class EntryCodec {
  /** The highest version of the entries that this program writes. */
  public static final int VERSION = 2;

  /** The version of an entry without a digest. */
  private static final int PLAIN = 1;

  static final int HEADER_BYTES = 1 + 8 + 4;
  private static final int DIGEST_BYTES = 8 + 8;

  private EntryCodec() {}

  public static byte[] encode(Command command) {
    WireWriter out = new WireWriter(64);
    CommandCodec.write(out, command);
    return out.toByteArray();
  }

  public static byte[] encode(long stampMicros, AppliedDigest digest, List<Proposal> proposals) {
    int size = HEADER_BYTES + (digest.isNone() ? 0 : DIGEST_BYTES);
    for (Proposal proposal : proposals) {
      size += proposal.encoded().length;
    }
    WireWriter out = new WireWriter(size);
    out.u8(digest.isNone() ? PLAIN : VERSION).i64(stampMicros);
    if (!digest.isNone()) {
      out.i64(digest.logIndex()).i64(digest.value());
    }
    out.i32(proposals.size());
    for (Proposal proposal : proposals) {
      out.raw(proposal.encoded(), 0, proposal.encoded().length);
    }
    return out.array();
  }

  /**
   * Reads what {@link #encode(Command)} has written.
   *
   * @throws UnknownCommandException if a later version has written it
   * @throws CorruptLogException if no version can have written it
   */
  public static Command decode(byte[] command) {
    try {
      WireReader in = new WireReader(command);
      Command decoded = CommandCodec.read(in);
      in.expectEnd();
      return decoded;
    } catch (WireFormatException | IllegalArgumentException e) {
      throw new CorruptLogException("a command of " + command.length + " bytes", e);
    }
  }

  /**
   * Reads an entry.
   *
   * @param proposals those of the entry if this node proposed it, else empty
   * @throws UnknownCommandException if a later version has written it
   * @throws CorruptLogException if no version can have written it
   */
  public static Entry decode(byte[] bytes, List<Proposal> proposals) {
    try {
      WireReader in = new WireReader(bytes);
      int version = in.u8();
      if (version != PLAIN && version != VERSION) {
        throw new UnknownCommandException("an entry of version " + version);
      }
      long stampMicros = in.i64();
      AppliedDigest digest =
          version == PLAIN ? AppliedDigest.NONE : new AppliedDigest(in.i64(), in.i64());
      int count = in.count(1);
      List<Command> commands = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        commands.add(CommandCodec.read(in));
      }
      in.expectEnd();
      return new Entry(stampMicros, digest, commands, proposals);
    } catch (WireFormatException | IllegalArgumentException e) {
      throw new CorruptLogException("log entry of " + bytes.length + " bytes", e);
    }
  }
}
