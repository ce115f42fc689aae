package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.function.LongSupplier;

/** A file that tells when it was synced. */
final class SyncedChannel extends FileChannel {
  private final FileChannel file;
  private final LongSupplier began;
  private final Listener listener;

  /** Is told of syncs. */
  interface Listener {
    /**
     * A sync has succeeded, and nothing has followed from that yet.
     *
     * @param covered what was asked for before the sync began
     */
    void synced(long covered) throws IOException;
  }

  /**
   * @param began returns what a sync that begins now covers
   */
  SyncedChannel(FileChannel file, LongSupplier began, Listener listener) {
    this.file = requireNonNull(file, "file");
    this.began = requireNonNull(began, "began");
    this.listener = requireNonNull(listener, "listener");
  }

  @Override
  public void force(boolean metaData) throws IOException {
    long covered = began.getAsLong();
    file.force(metaData);
    listener.synced(covered);
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    return file.read(to);
  }

  @Override
  public long read(ByteBuffer[] to, int offset, int length) throws IOException {
    return file.read(to, offset, length);
  }

  @Override
  public int read(ByteBuffer to, long position) throws IOException {
    return file.read(to, position);
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    return file.write(from);
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int length) throws IOException {
    return file.write(from, offset, length);
  }

  @Override
  public int write(ByteBuffer from, long position) throws IOException {
    return file.write(from, position);
  }

  @Override
  public long position() throws IOException {
    return file.position();
  }

  @Override
  public FileChannel position(long position) throws IOException {
    file.position(position);
    return this;
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    file.truncate(size);
    return this;
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel to) throws IOException {
    return file.transferTo(position, count, to);
  }

  @Override
  public long transferFrom(ReadableByteChannel from, long position, long count) throws IOException {
    return file.transferFrom(from, position, count);
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
    return file.map(mode, position, size);
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) throws IOException {
    return file.lock(position, size, shared);
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    return file.tryLock(position, size, shared);
  }

  @Override
  protected void implCloseChannel() throws IOException {
    file.close();
  }
}
