package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.seal.AlteredException;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.LineSeal;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The audit file and its predecessors. Every line is there as a whole or not at all: what a crash
 * or a full disk left of a line is cut off. Each line has a hash of all lines before it ({@link
 * AuditChain}), over the ends of files. With data keys the lines are encrypted ({@link LineSeal});
 * all lines of a file have one key. Thread-safe: one thread writes, and another may read what is
 * written.
 *
 * <p>Each file begins with a line that says up to which event of the log the files before it go, so
 * one file tells where the next line belongs.
 */
final class AuditFile implements AuditTarget {
  private final AuditSettings settings;
  private final DataKeys keys;
  private final OwnLog log;

  /** How the files begin, from the current one to the oldest. */
  private final List<AuditEnd.Beginning> beginnings = new ArrayList<>();

  private Listener listener = Listener.NOBODY;
  private @Nullable FileChannel channel;
  private AuditChain chain = AuditChain.BEGINNING;
  private @Nullable LineSeal seal;
  private long sizeBytes;

  /** Who reads the lines. Called with the monitor of the file; must not wait. */
  interface Listener {
    Listener NOBODY =
        new Listener() {
          @Override
          public void written() {}

          @Override
          public void deletes() {}
        };

    /** There are more lines. */
    void written();

    /** The oldest file is deleted after this. */
    void deletes() throws IOException;
  }

  /**
   * Lines that follow each other.
   *
   * @param next the place after them; null if there is no line at all
   * @param gap whether lines that should be before these are no longer there
   */
  record Piece(List<String> lines, @Nullable AuditPlace next, boolean gap) {}

  /**
   * @param keys encrypt the lines, if there are any
   * @param log whose events the lines are about
   */
  AuditFile(AuditSettings settings, DataKeys keys, OwnLog log) {
    this.log = requireNonNull(log, "log");
    this.settings = requireNonNull(settings, "settings");
    this.keys = requireNonNull(keys, "keys");
  }

  /** Has this listener know of what happens from now on. */
  synchronized void tell(Listener reader) {
    listener = requireNonNull(reader, "reader");
  }

  @Override
  public synchronized Progress open() throws IOException {
    beginnings.clear();
    for (int number = 0; number < settings.files(); number++) {
      beginnings.add(AuditEnd.beginningOf(numbered(number), keys));
    }
    Path file = settings.file();
    AuditEnd end = Files.exists(file) ? AuditEnd.of(file, keys, log) : null;
    if (end == null || end.wholeBytes() == 0) {
      // the first start, or a crash within a rotation
      Path before = numbered(1);
      AuditEnd last = Files.exists(before) ? AuditEnd.of(before, keys, log) : null;
      goOnFrom(last);
      begin();
      return last == null ? Progress.NONE : last.progress();
    }
    goOnFrom(end);
    sizeBytes = end.wholeBytes();
    reopen();
    seal = keys.isOn() ? LineSeal.with(keys) : null;
    if (end.chain() == null || end.faulty() || !hasKey(end.keyId())) {
      // a version without hashes has written it, others have written to it, or it has another key
      // than the lines to come
      rotate();
    }
    return end.progress();
  }

  private boolean hasKey(@Nullable String keyId) {
    return keys.isOn() ? keys.ids().get(0).equals(keyId) : keyId == null;
  }

  private void goOnFrom(@Nullable AuditEnd last) {
    AuditChain found = last == null ? null : last.chain();
    chain = found == null ? AuditChain.BEGINNING : found;
  }

  /** Begins the current file, which is empty. */
  private void begin() throws IOException {
    sizeBytes = 0;
    beginnings.set(0, AuditEnd.Beginning.NONE);
    seal = keys.isOn() ? LineSeal.with(keys) : null;
    reopen();
    SyncedFiles.syncNameOf(settings.file());
  }

  @Override
  public synchronized String append(String header, String lines) throws IOException {
    if (channel == null) {
      reopen();
    }
    if (sizeBytes > 0
        && (sizeBytes + bytesOf(lines) > settings.maxBytes() || !hasKey(keyOfSeal()))) {
      rotate();
    }
    if (sizeBytes == 0) {
      write(header);
    }
    write(lines);
    return chain.last();
  }

  private @Nullable String keyOfSeal() {
    return seal == null ? null : seal.keyId();
  }

  private long bytesOf(String lines) {
    LineSeal with = seal;
    return lines
        .lines()
        .mapToLong(line -> line.getBytes(UTF_8).length + AuditChain.PLACE_BYTES)
        .map(bytes -> 1 + (with == null ? bytes : with.sealedBytes(bytes)))
        .sum();
  }

  private void write(String lines) throws IOException {
    FileChannel out = requireNonNull(channel, "channel");
    AuditChain.Extended linked = chain.extend(lines, sizeBytes == 0);
    boolean begins = sizeBytes == 0 && !lines.isEmpty();
    try {
      ByteBuffer rest = ByteBuffer.wrap(stored(linked.lines()));
      long at = sizeBytes;
      while (rest.hasRemaining()) {
        at += out.write(rest, at);
      }
      sizeBytes = at;
      if (begins) {
        beginnings.set(
            0,
            new AuditEnd.Beginning(
                linked.first(), chain.last(), seal == null ? null : seal.keyId()));
      }
      chain = linked.chain();
    } catch (IOException e) {
      // the next attempt cuts off what came of this one
      close();
      throw e;
    }
    listener.written();
  }

  private byte[] stored(String lines) {
    LineSeal with = seal;
    if (with == null) {
      return lines.getBytes(UTF_8);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(2 * lines.length());
    lines
        .lines()
        .forEach(
            line -> {
              out.writeBytes(with.seal(line.getBytes(UTF_8)));
              out.write('\n');
            });
    return out.toByteArray();
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
    int oldest = settings.files() - 1;
    if (Files.exists(numbered(oldest))) {
      listener.deletes();
    }
    List<Path> names = new ArrayList<>();
    for (int number = 0; number < settings.files(); number++) {
      names.add(numbered(number));
    }
    SyncedFiles.rotate(names);
    beginnings.remove(oldest);
    beginnings.add(0, AuditEnd.Beginning.NONE);
    begin();
  }

  private Path numbered(int number) {
    return number == 0
        ? settings.file()
        : settings.file().resolveSibling(settings.file().getFileName() + "." + number);
  }

  /**
   * Reads lines.
   *
   * @param from null for the oldest line that is there
   */
  synchronized Piece read(@Nullable AuditPlace from) throws IOException {
    int number = from == null ? -1 : numberOf(from);
    boolean gap = from != null && number < 0;
    long offset = gap || from == null ? 0 : from.bytes();
    number = number < 0 ? settings.files() - 1 : number;
    String before = from == null || gap ? null : from.chain();
    while (offset >= sizeOf(number)) {
      if (number == 0) {
        return new Piece(List.of(), from, /* gap= */ false);
      }
      number--;
      offset = 0;
    }
    AuditEnd.Beginning beginning = beginnings.get(number);
    gap |= offset == 0 && before != null && !before.equals(beginning.before());
    return read(number, offset, before == null ? AuditChain.BEGINNING.last() : before, gap);
  }

  /** True if there are bytes of lines after a place. */
  synchronized boolean hasAfter(@Nullable AuditPlace place) throws IOException {
    int number = place == null ? -1 : numberOf(place);
    long offset = number < 0 ? 0 : requireNonNull(place).bytes();
    for (int each = number < 0 ? settings.files() - 1 : number; each >= 0; each--) {
      if (sizeOf(each) > offset) {
        return true;
      }
      offset = 0;
    }
    return false;
  }

  /** The number of the file of a place, as long as the place is one; else -1. */
  private int numberOf(AuditPlace place) {
    for (int number = 0; number < beginnings.size(); number++) {
      if (place.file().equals(beginnings.get(number).first())) {
        return number;
      }
    }
    return -1;
  }

  /** A file without hashes, which another version has written, has no lines for readers. */
  private long sizeOf(int number) throws IOException {
    if (beginnings.get(number).first() == null) {
      return 0;
    }
    return number == 0
        ? sizeBytes
        : Files.exists(numbered(number)) ? Files.size(numbered(number)) : 0;
  }

  private Piece read(int number, long offset, String before, boolean gap) throws IOException {
    Path file = numbered(number);
    String first = requireNonNull(beginnings.get(number).first());
    List<String> lines = new ArrayList<>();
    String last = before;
    long end = sizeOf(number);
    long at = offset;
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      InputStream bytes =
          new BufferedInputStream(Channels.newInputStream(in.position(offset)), 1 << 16);
      while (at < end && at - offset < Limits.SYSLOG_PIECE_BYTES) {
        byte[] line = AuditEnd.nextLine(bytes);
        if (line == null) {
          // what another version or another hand has left there is no line
          at = end;
          break;
        }
        at += line.length + 1;
        String text = readable(number, line);
        AuditChain.Link link = text == null ? null : AuditChain.read(text.getBytes(UTF_8));
        if (text != null && link != null) {
          lines.add(text);
          last = link.chain();
        }
      }
    }
    return new Piece(lines, new AuditPlace(first, at, last), gap);
  }

  /** The first line of the file was read, so an altered line names another key. */
  private @Nullable String readable(int number, byte[] line) throws IOException {
    return opened("a line of " + numbered(number), line);
  }

  /** Null for what this node has not written with a key that it has. */
  private @Nullable String opened(String what, byte[] stored) throws IOException {
    if (AuditEnd.isForeign(stored, keys)) {
      return null;
    }
    try {
      return new String(LineSeal.open(keys, what, stored), UTF_8);
    } catch (AlteredException | KeyMissingException e) {
      return null;
    }
  }

  /**
   * True if the line before a place is the one that was there. After a power cut another line may
   * be, or none.
   */
  synchronized boolean isThere(AuditPlace place) throws IOException {
    int number = numberOf(place);
    if (number < 0 || place.bytes() > sizeOf(number)) {
      return false;
    }
    Path file = numbered(number);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      byte[] line = {};
      long at = 0;
      while (at < place.bytes()) {
        byte[] next = AuditEnd.nextLine(in);
        if (next == null) {
          return false;
        }
        line = next;
        at += next.length + 1;
      }
      String text = at == place.bytes() ? readable(number, line) : null;
      AuditChain.Link link = text == null ? null : AuditChain.read(text.getBytes(UTF_8));
      return link != null && link.chain().equals(place.chain());
    }
  }

  /** False for a place in a file that is not there any more. */
  synchronized boolean hasFileOf(AuditPlace place) {
    return numberOf(place) >= 0;
  }

  /** What a file beside this one has of a place: encrypted, if there are data keys. */
  byte[] stored(AuditPlace place) {
    byte[] text = place.text().getBytes(UTF_8);
    return keys.isOn() ? LineSeal.with(keys).seal(text) : text;
  }

  /** Reads what {@link #stored(AuditPlace)} has made; returns null for anything else. */
  @Nullable AuditPlace placeIn(byte[] stored) throws IOException {
    String text = opened("a place", stored);
    return text == null ? null : AuditPlace.parse(text);
  }

  /** The place before the first line of the file of a place; the place itself without the file. */
  synchronized AuditPlace beginningOf(AuditPlace place) {
    int number = numberOf(place);
    String before = number < 0 ? null : beginnings.get(number).before();
    return before == null ? place : new AuditPlace(place.file(), 0, before);
  }

  /** How many lines the oldest file has after a place, or in all if the place is not in it. */
  synchronized long linesLeftInOldest(@Nullable AuditPlace place) throws IOException {
    int oldest = settings.files() - 1;
    AuditEnd.Beginning beginning = beginnings.get(oldest);
    long count = 0;
    long at = 0;
    long from = place != null && place.file().equals(beginning.first()) ? place.bytes() : 0;
    try (InputStream in =
        new BufferedInputStream(Files.newInputStream(numbered(oldest)), 1 << 16)) {
      for (byte[] line = AuditEnd.nextLine(in); line != null; line = AuditEnd.nextLine(in)) {
        count += at >= from ? 1 : 0;
        at += line.length + 1;
      }
    }
    return count;
  }

  /** True if the place is in a newer file than the oldest. */
  synchronized boolean isBehindOldest(AuditPlace place) {
    int number = numberOf(place);
    return number >= 0 && number < settings.files() - 1;
  }

  /** The names of the keys with which files are encrypted that are there. */
  synchronized Set<String> keysInUse() {
    Set<String> used = new LinkedHashSet<>();
    for (AuditEnd.Beginning beginning : beginnings) {
      if (beginning.keyId() != null) {
        used.add(beginning.keyId());
      }
    }
    return used;
  }

  @Override
  public synchronized void force() throws IOException {
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
        beginnings.set(0, AuditEnd.Beginning.NONE);
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  @Override
  public synchronized void close() throws IOException {
    FileChannel out = channel;
    channel = null;
    if (out != null) {
      out.close();
    }
  }
}
