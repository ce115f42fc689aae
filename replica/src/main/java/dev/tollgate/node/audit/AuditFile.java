package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.SyncedFiles;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The audit file and its predecessors. Every line is there as a whole or not at all: what a crash
 * or a full disk left of a line is cut off. Each line has a hash of all lines before it ({@link
 * AuditChain}), over the ends of files. Not thread-safe.
 *
 * <p>Each file begins with a line that says up to which event of the log the files before it go, so
 * one file tells where the next line belongs.
 */
final class AuditFile implements AuditTarget {
  private static final int BUFFER_BYTES = 1 << 16;

  /** The head of a line that says where in the log it stands; longer than any such head. */
  private static final int HEAD_BYTES = 300;

  private static final Pattern PLACE =
      Pattern.compile(
          "\\{\"time\":\"[^\"]*\",\"event\":\"[a-z_]+\"(?:,\"directory\":\"([^\"]*)\")?"
              + ",\"index\":(\\d+)(?:,\"ordinal\":(\\d+),\"number\":(\\d+))?,.*",
          Pattern.DOTALL);

  private final AuditSettings settings;
  private final Consumer<String> written;
  private @Nullable FileChannel channel;
  private AuditChain chain = AuditChain.BEGINNING;
  private long sizeBytes;

  AuditFile(AuditSettings settings) {
    this(settings, lines -> {});
  }

  /**
   * @param written is told of the lines that were written, as they are in the file; must not wait
   */
  AuditFile(AuditSettings settings, Consumer<String> written) {
    this.settings = requireNonNull(settings, "settings");
    this.written = requireNonNull(written, "written");
  }

  /**
   * How a file ends.
   *
   * @param chain null if the last whole line has no hash, or there is none
   */
  private record End(Progress progress, long wholeBytes, @Nullable AuditChain chain) {}

  @Override
  public Progress open() throws IOException {
    Path file = settings.file();
    End end = Files.exists(file) ? endOf(file) : null;
    if (end == null || end.wholeBytes() == 0) {
      // the first start, or a crash within a rotation
      Path before = numbered(1);
      End last = Files.exists(before) ? endOf(before) : null;
      goOnFrom(last);
      sizeBytes = 0;
      reopen();
      SyncedFiles.syncNameOf(file);
      return last == null ? Progress.NONE : last.progress();
    }
    goOnFrom(end);
    sizeBytes = end.wholeBytes();
    reopen();
    if (end.chain() == null) {
      // a version without hashes has written it
      rotate();
    }
    return end.progress();
  }

  private void goOnFrom(@Nullable End last) {
    AuditChain found = last == null ? null : last.chain();
    chain = found == null ? AuditChain.BEGINNING : found;
  }

  @Override
  public String append(String header, String lines) throws IOException {
    if (channel == null) {
      reopen();
    }
    if (sizeBytes > 0 && sizeBytes + bytesOf(lines) > settings.maxBytes()) {
      rotate();
    }
    if (sizeBytes == 0) {
      write(header);
    }
    write(lines);
    return chain.last();
  }

  private static long bytesOf(String lines) {
    long places = lines.chars().filter(c -> c == '\n').count() * AuditChain.PLACE_BYTES;
    return lines.getBytes(UTF_8).length + places;
  }

  private void write(String lines) throws IOException {
    FileChannel out = requireNonNull(channel, "channel");
    AuditChain.Extended linked = chain.extend(lines, sizeBytes == 0);
    try {
      ByteBuffer rest = ByteBuffer.wrap(linked.lines().getBytes(UTF_8));
      long at = sizeBytes;
      while (rest.hasRemaining()) {
        at += out.write(rest, at);
      }
      sizeBytes = at;
      chain = linked.chain();
    } catch (IOException e) {
      // the next attempt cuts off what came of this one
      close();
      throw e;
    }
    written.accept(linked.lines());
  }

  private void reopen() throws IOException {
    channel =
        PrivateFiles.open(
            settings.file(), EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
    sizeBytes = Math.min(sizeBytes, channel.size());
    channel.truncate(sizeBytes);
  }

  private void rotate() throws IOException {
    force();
    close();
    List<Path> names = new ArrayList<>(List.of(settings.file()));
    for (int number = 1; number < settings.files(); number++) {
      names.add(numbered(number));
    }
    SyncedFiles.rotate(names);
    sizeBytes = 0;
    reopen();
    SyncedFiles.syncNameOf(settings.file());
  }

  private Path numbered(int number) {
    return settings.file().resolveSibling(settings.file().getFileName() + "." + number);
  }

  @Override
  public void force() throws IOException {
    FileChannel out = channel;
    if (out == null) {
      return;
    }
    try {
      out.force(false);
      if (!Files.exists(settings.file())) {
        // moved or deleted by others: whoever reads that name must not miss what follows
        close();
        sizeBytes = 0;
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    FileChannel out = channel;
    channel = null;
    if (out != null) {
      out.close();
    }
  }

  /** Reads a file to its end, and keeps nothing of it but the head and the hash of a line. */
  private static End endOf(Path file) throws IOException {
    Progress progress = Progress.NONE;
    long read = 0;
    long whole = 0;
    byte[] head = new byte[HEAD_BYTES];
    int length = 0;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      for (int next = in.read(); next >= 0; next = in.read()) {
        read++;
        if (next == '\n') {
          progress = after(progress, new String(head, 0, length, ISO_8859_1));
          whole = read;
          length = 0;
        } else if (length < HEAD_BYTES) {
          head[length++] = (byte) next;
        }
      }
    }
    return new End(progress, whole, chainAt(file, whole));
  }

  /** The hash at the end of the last whole line, or null. */
  private static @Nullable AuditChain chainAt(Path file, long whole) throws IOException {
    long from = whole - 1 - AuditChain.PLACE_BYTES;
    if (from < 0) {
      return null;
    }
    ByteBuffer end = ByteBuffer.allocate(AuditChain.PLACE_BYTES);
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      while (end.hasRemaining() && in.read(end, from + end.position()) >= 0) {
        // reads on
      }
    }
    AuditChain.Link link = AuditChain.read(end.array());
    return link == null ? null : new AuditChain(link.chain());
  }

  private static Progress after(Progress before, String line) {
    Matcher place = PLACE.matcher(line);
    if (!place.matches()) {
      return before;
    }
    try {
      long logIndex = Long.parseLong(place.group(2));
      AuditPosition position =
          place.group(3) == null
              ? AuditPosition.endOf(logIndex)
              : new AuditPosition(
                  logIndex, Integer.parseInt(place.group(3)), Integer.parseInt(place.group(4)));
      return new Progress(place.group(1) == null ? before.directory() : place.group(1), position);
    } catch (NumberFormatException e) {
      // no line of a node has such numbers
      return before;
    }
  }
}
